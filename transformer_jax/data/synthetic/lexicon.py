"""All other words of the synthetic corpus: tables in a dictionary's notation.

A line is one lexeme; a vertical bar separates columns. `words.py` reads them.
"""

# English (past, participle) +particle | German infinitive, third person, participle
# | subjects | complements | flags.
# "human" is person, but for the baby, and relative; it is every subject not given.
# A regular English verb gives the base only. German: prefix-verb is separable, "sich" reflexive,
# "ist" forms the perfect with sein. A complement is "case: kinds", or
# "english/german case: kinds" with a preposition in either language or both.
# Flags: state (present only, no modal), point (no progressive), mishap (neither progressive nor
# modal), for (may have a beneficiary), in (a place), with (a companion), many (plural object).
VERBS = """
    sleep slept slept | schlafen schläft geschlafen | human baby animal | | in
    laugh | lachen lacht gelacht | human baby | | in
    cry | weinen weint geweint | human baby | | in
    smile | lächeln lächelt gelächelt | human baby | | in
    dance | tanzen tanzt getanzt | | | in with
    sing sang sung | singen singt gesungen | | | in with
    swim swam swum | schwimmen schwimmt ist geschwommen | human | | with
    work | arbeiten arbeitet gearbeitet | | | in with
    cook | kochen kocht gekocht | | | in with
    travel | reisen reist ist gereist | | | with
    shout | schreien schreit geschrien | | | in
    pray | beten betet gebetet | | | in with
    chat | plaudern plaudert geplaudert | | | in with
    hike | wandern wandert ist gewandert | | | with
    get got gotten +up | auf-stehen steht ist gestanden
    wake woke woken +up | auf-wachen wacht ist gewacht | human animal | | mishap
    go went gone +away | weg-gehen geht ist gegangen
    come came come +back | zurück-kommen kommt ist gekommen | human animal | | with
    go went gone +out | aus-gehen geht ist gegangen | | | with
    fall fell fallen +asleep | ein-schlafen schläft ist geschlafen | human animal | | mishap
    move +in | ein-ziehen zieht ist gezogen
    arrive | an-kommen kommt ist gekommen | human transport | | point with
    depart | ab-fahren fährt ist gefahren | transport
    stop | an-halten hält gehalten | transport car
    hurry | sich beeilen beeilt beeilt
    rest | sich aus-ruhen ruht geruht | human animal | | in with
    sit sat sat +down | sich hin-setzen setzt gesetzt
    hide hid hidden | sich verstecken versteckt versteckt | human animal | | in
    bloom | blühen blüht geblüht | plant | | in
    grow grew grown | wachsen wächst ist gewachsen | plant | | in
    begin began begun | beginnen beginnt begonnen | event
    end | enden endet geendet | event

    see saw seen | sehen sieht gesehen | | acc: human animal building car | point
    hear heard heard | hören hört gehört | | acc: human animal radio transport | point
    know knew known | kennen kennt gekannt | | acc: human building outdoors | state
    love | lieben liebt geliebt | | acc: human animal event outdoors | state
    like | mögen mag gemocht | | acc: human animal food drink event | state
    need | brauchen braucht gebraucht | | acc: thing clothes device car furniture | state
    fear | fürchten fürchtet gefürchtet | human animal | acc: animal cause soldier | state
    admire | bewundern bewundert bewundert | | acc: person building | state
    visit | besuchen besucht besucht | | acc: human outdoors building
    meet met met | treffen trifft getroffen | | acc: human | point
    find found found | finden findet gefunden | human | acc: thing toy text clothes | point
    look | suchen sucht gesucht | | for/ acc: thing toy text animal clothes building
    buy bought bought | kaufen kauft gekauft | | acc: food drink text clothes car toy thing | for
    sell sold sold | verkaufen verkauft verkauft | | acc: car furniture device building fodder
    read read read | lesen liest gelesen | | acc: text mail
    write wrote written | schreiben schreibt geschrieben | | acc: text mail | for
    eat ate eaten | essen isst gegessen | human | acc: food fodder
    eat ate eaten | fressen frisst gefressen | animal | acc: fodder
    drink drank drunk | trinken trinkt getrunken | human | acc: drink
    order | bestellen bestellt bestellt | | acc: food drink furniture | for
    carry | tragen trägt getragen | | acc: furniture thing dish
    open | öffnen öffnet geöffnet | | acc: opening bottle suitcase present
    close | schließen schließt geschlossen | | acc: opening
    repair | reparieren repariert repariert | | acc: device car opening
    wash | waschen wäscht gewaschen | | acc: clothes car dish carrot apple
    clean | putzen putzt geputzt | | acc: room window car dish
    draw drew drawn | zeichnen zeichnet gezeichnet | | acc: animal plant picture building | for
    paint | malen malt gemalt | | acc: picture plant animal
    forget forgot forgotten | vergessen vergisst vergessen | | acc: thing text question | mishap
    lose lost lost | verlieren verliert verloren | | acc: thing toy | mishap
    take took taken | nehmen nimmt genommen | | acc: thing dish transport fodder
    use | benutzen benutzt benutzt | | acc: device dish thing car
    hold held held | halten hält gehalten | | acc: thing dish toy
    push | schieben schiebt geschoben | | acc: car furniture
    pull | ziehen zieht gezogen | human animal | acc: car suitcase
    break broke broken | zerbrechen zerbricht zerbrochen | | acc: dish | mishap
    cut cut cut | schneiden schneidet geschnitten | | acc: fodder cheese meat cake sausage
    bake | backen backt gebacken | | acc: cake bread | for
    greet | grüßen grüßt gegrüßt | | acc: human
    kiss | küssen küsst geküsst | | acc: relative baby prince princess
    ask | fragen fragt gefragt | | acc: human
    understand understood understood | verstehen versteht verstanden | | acc: question human | state
    feed fed fed | füttern füttert gefüttert | | acc: animal baby
    catch caught caught | fangen fängt gefangen | human animal | acc: mouse rabbit goose
    watch | beobachten beobachtet beobachtet | human animal | acc: person animal transport
    build built built | bauen baut gebaut | | acc: building barrier kite shelf | for
    collect | sammeln sammelt gesammelt | | acc: postcard kite doll ring picture dish | many
    photograph | fotografieren fotografiert fotografiert | | acc: person building animal plant
    wear wore worn | tragen trägt getragen | | acc: clothes ring
    plant | pflanzen pflanzt gepflanzt | | acc: plant
    explain | erklären erklärt erklärt | | acc: question ; to/ dat: human

    call +up | an-rufen ruft gerufen | | acc: human
    invite | ein-laden lädt geladen | | acc: human
    pick +up | ab-holen holt geholt | | acc: human suitcase present
    switch +on | ein-schalten schaltet geschaltet | | acc: device
    switch +off | aus-schalten schaltet geschaltet | | acc: device
    put put put +on | an-ziehen zieht gezogen | | acc: clothes
    take took taken +off | aus-ziehen zieht gezogen | | acc: clothes
    tidy +up | auf-räumen räumt geräumt | | acc: room
    bring brought brought +along | mit-bringen bringt gebracht | | acc: food drink thing text
    take took taken +along | mit-nehmen nimmt genommen | | acc: thing clothes text toy
    throw threw thrown +away | weg-werfen wirft geworfen | | acc: newspaper clothes food toy
    look | an-sehen sieht gesehen | | at/ acc: picture animal building car
    prepare | vor-bereiten bereitet bereitet | | acc: event

    help | helfen hilft geholfen | | dat: human baby
    thank | danken dankt gedankt | | dat: human
    follow | folgen folgt ist gefolgt | human animal | dat: person animal car
    trust | vertrauen vertraut vertraut | | dat: human | state
    congratulate | gratulieren gratuliert gratuliert | | dat: human
    listen | zu-hören hört gehört | | to/ dat: human
    belong | gehören gehört gehört | thing toy car clothes dish | to/ dat: human | state
    answer | antworten antwortet geantwortet | | dat: human

    give gave given | geben gibt gegeben | | dat: human ; acc: thing toy food text
    show showed shown | zeigen zeigt gezeigt | | dat: human ; acc: building thing animal text plant
    lend lent lent | leihen leiht geliehen | | dat: human ; acc: thing text car clothes
    send sent sent | schicken schickt geschickt | | dat: human ; acc: mail thing text
    bring brought brought | bringen bringt gebracht | | dat: human ; acc: drink food dish plant
    tell told told | erzählen erzählt erzählt | | dat: human ; acc: story
    offer | an-bieten bietet geboten | | dat: human ; acc: drink food
    promise | versprechen verspricht versprochen | | dat: human ; acc: present toy trip ring

    wait | warten wartet gewartet | | for/auf acc: human transport
    think thought thought | denken denkt gedacht | | of/an acc: human event
    talk | sprechen spricht gesprochen | | about/über acc: event text question person
    dream | träumen träumt geträumt | | of/von dat: event animal castle ship
    laugh | lachen lacht gelacht | | at/über acc: monkey clothes story
    look | auf-passen passt gepasst | | after/auf acc: child baby animal suitcase bag
    look +forward | sich freuen freut gefreut | | to/auf acc: event
    remember | sich erinnern erinnert erinnert | | /an acc: person event story | state
    complain | sich beschweren beschwert beschwert | | about/über acc: noise heat food neighbor
    take took taken +part | teil-nehmen nimmt genommen | | in/an dat: concert exam game meeting
    play | spielen spielt gespielt | human animal | with/mit dat: toy child dog
    knock | klopfen klopft geklopft | | on/an acc: door window gate

    go went gone | gehen geht ist gegangen | | to/zu dat: building park transport
    walk | gehen geht ist gegangen | | through/durch acc: outdoors building
    run ran run | laufen läuft ist gelaufen | human animal | into/in acc: room outdoors building
    drive drove driven | fahren fährt ist gefahren | human car bus | through/durch acc: outdoors
    jump | springen springt ist gesprungen | person animal | over/über acc: barrier bench
    climb | klettern klettert ist geklettert | person animal | onto/auf acc: furniture tree wall
    ride rode ridden | reiten reitet ist geritten | | to/zu dat: castle church river
    come came come | kommen kommt ist gekommen | human animal | out_of/aus dat: room building forest
    live | wohnen wohnt gewohnt | | in/in dat: outdoors castle house hotel | state
    lie lay lain | liegen liegt gelegen | thing text toy clothes | on/auf dat: furniture | state
    stand stood stood | stehen steht gestanden | dish device | on/auf dat: table shelf | state
    hang hung hung | hängen hängt gehangen | picture lamp | over/über dat: furniture door | state
    put put put | stellen stellt gestellt | | acc: dish device ; on/auf acc: table shelf
    lay laid laid | legen legt gelegt | | acc: thing text toy clothes ; on/auf acc: furniture
    push | schieben schiebt geschoben | | acc: furniture bicycle ; into/in acc: room
"""

# English (comparative, if not regular) | German (comparative, if not -er; stem, if inflected
# otherwise) | nouns.
ADJECTIVES = """
    old | alt älter | human animal building car furniture clothes text toy tree bridge device
    young | jung jünger | human animal
    big | groß größer | animal building car furniture outdoors room plant thing dish toy opening
    small | klein | person animal building car furniture room plant thing dish toy opening outdoors
    new | neu | building car furniture clothes text device toy thing bridge
    beautiful | schön | building outdoors plant clothes thing toy event animal
    ugly | hässlich | building furniture clothes animal barrier
    good better | gut besser | event text food fodder drink friend teacher doctor question
    bad worse | schlecht | event text
    friendly friendlier | freundlich | human animal
    clever cleverer | klug klüger | human animal question
    stupid | dumm dümmer | animal question rule
    happy happier | glücklich | human
    sad | traurig | human mail text
    tired | müde müder | human animal
    sick sicker | krank kränker | human animal plant
    healthy healthier | gesund gesünder | human animal food
    strong | stark stärker | human animal storm coffee
    weak | schwach schwächer | person animal
    rich | reich | human
    poor | arm ärmer | human
    famous | berühmt | person building painter text picture
    hungry hungrier | hungrig | human animal
    thirsty thirstier | durstig | person animal
    lazy lazier | faul | human animal
    brave | tapfer | person animal
    polite | höflich | human question
    curious | neugierig | human animal
    shy shyer | schüchtern | person animal
    proud | stolz | human
    nervous | nervös | human
    dangerous | gefährlich | animal machine trip storm knife river
    fast | schnell | car transport animal
    slow | langsam | car transport animal device
    expensive | teuer teurer teur | car clothes furniture device thing event
    cheap | billig | car clothes furniture device thing
    heavy heavier | schwer | furniture thing device dish
    light | leicht | furniture clothes suitcase bag
    long | lang länger | event text mail barrier novel dress coat
    short | kurz kürzer | event poem mail dress skirt movie
    red redder | rot röter | clothes car toy opening dish furniture apple rose
    blue bluer | blau | clothes car toy opening dish furniture
    green | grün | clothes car toy opening dish furniture
    yellow | gelb | clothes car toy opening dish plant
    black | schwarz schwärzer | clothes car animal dish furniture
    white whiter | weiß | clothes car animal dish furniture building
    brown | braun | clothes animal furniture dish
    hot hotter | heiß | soup tea coffee milk water
    cold | kalt kälter | drink soup room meat
    warm | warm wärmer | room soup milk clothes
    fresh | frisch | fodder food milk juice water
    delicious | lecker | food fodder wine juice
    sweet | süß | food apple wine juice tea
    clean | sauber | room clothes dish opening car
    dirty dirtier | schmutzig | room clothes dish opening car animal
    empty emptier | leer | bottle glass cup drawer suitcase bag station bus
    full | voll | bottle glass cup suitcase bag bus
    broken | kaputt | device car furniture toy opening umbrella
    modern | modern | building device furniture
    quiet quieter | ruhig | room outdoors person building
    loud | laut | machine radio party concert
    dark darker | dunkel dunkler dunkl | room forest cellar
    bright | hell | room lamp office
    interesting | interessant | text event story museum city question
    boring | langweilig | text event story museum
    funny funnier | lustig | story movie hat monkey poem
    important | wichtig | meeting exam mail question guest
    difficult | schwierig | exam question text
    easy easier | einfach | exam question game
    deep | tief | river valley snow forest
    high | hoch höher hoh | fence wall bridge tree
    round | rund | table window cake vase lamp ring
    strange | seltsam | person animal noise word text machine
"""

# Attributive colors stand after other adjectives; they and the others here are not compared.
COLORS = "red blue green yellow black white brown"
ABSOLUTE = COLORS + " broken empty full round"

# English | German | tense. "habit" is a simple present; a star marks an adverb that stands before
# the English verb; a minus sign, one that cannot be fronted.
TIMES = """
    yesterday | gestern | past
    last week | letzte Woche | past
    last year | letztes Jahr | past
    this morning | heute Morgen | past
    on Monday | am Montag | past
    on Friday | am Freitag | future
    now | jetzt | present
    today | heute | present
    at the moment | im Moment | present
    tomorrow | morgen | future
    soon | bald | future
    tonight | heute Abend | future
    next week | nächste Woche | future
    next month | nächsten Monat | future
    every day | jeden Tag | habit
    every morning | jeden Morgen | habit
    on Sundays | sonntags | habit
    in the evening | abends | habit
    in winter | im Winter | habit
    in summer | im Sommer | habit
    often | oft | habit *-
    always | immer | habit *-
    sometimes | manchmal | habit *
    usually | normalerweise | habit *
    rarely | selten | habit *-
    never | nie | habit *-
"""

# English | German | English verbs.
MANNERS = """
    slowly | langsam | eat drink read write speak repair go run drive get open climb walk carry
    quickly | schnell | run go drive eat drink close swim write cook work tidy put climb wash
    quietly | leise | sing talk cry open close laugh pray knock
    loudly | laut | sing laugh cry talk shout knock complain
    carefully | vorsichtig | open drive carry put lay cut wash climb close push
    patiently | geduldig | wait help listen explain
    secretly | heimlich | smile read meet kiss love eat write visit
    diligently | fleißig | work write clean cook collect
    well | gut | sleep sing dance cook swim work
    politely | höflich | greet ask answer thank
    alone | allein | travel work live sing swim dance hike sleep
    in vain | vergeblich | wait knock
"""

PLACES = """
    here | hier
    there | dort
    outside | draußen
    at home | zu Hause
    upstairs | oben
    downstairs | unten
    everywhere | überall
"""

# English | German, case | nouns.
LOCATIONS = """
    in | in dat | room outdoors building
    behind | hinter dat | building plant
    in front of | vor dat | building
    next to | neben dat | building river tree
    under | unter dat | tree bridge
"""
# Those whom one calls one's own.
OWN_PEOPLE = "friend neighbor doctor teacher colleague guest child"

# Adjectives for a state that comes and goes.
PASSING = "happy sad tired sick hungry thirsty curious nervous proud"

COMPANIONS = """
    with | mit dat | human
    without | ohne acc | human
"""
BENEFICIARIES = "for | für acc | human"
OCCASIONS = """
    after | nach dat | event
    before | vor dat | event
    during | während gen | event
    because of | wegen gen | cause
"""

# English singular, plural | German stem | its own endings, those of a following adjective.
# A dash: not used in that number.
DETERMINERS = """
    the the | d | der weak
    a - | ein | ein mixed
    this these | dies | dieser weak
    every - | jed | dieser weak
    which which | welch | dieser weak
    - all | all | dieser weak
    - many | viel | dieser strong
    - some | einig | dieser strong
    - two | zwei | none strong
    - three | drei | none strong
    - four | vier | none strong
    no no | kein | ein mixed
    my my | mein | ein mixed
    your your | dein | ein mixed
    his his | sein | ein mixed
    her her | ihr | ein mixed
    our our | unser | ein mixed
    their their | ihr | ein mixed
"""

# English nominative, accusative | German nominative, accusative, dative, reflexive
# | person, number.
PRONOUNS = """
    I me | ich mich mir mich | 1 singular
    you you | du dich dir dich | 2 singular
    he him | er ihn ihm sich | 3 singular
    she her | sie sie ihr sich | 3 singular
    we us | wir uns uns uns | 1 plural
    they them | sie sie ihnen sich | 3 plural
"""

# English chain of verbs | German infinitive | present | past; "ich" and "er" share a form.
MODALS = """
    can | können | kann | konnte
    have to | müssen | muss | musste
    should | sollen | sollte | -
    want to | wollen | will | wollte
    be allowed to | dürfen | darf | durfte
    would like to | mögen | möchte | -
"""

# English | German | the clause: any, habit (simple present), past.
CONJUNCTIONS = """
    because | weil | any
    although | obwohl | any
    while | während | any
    if | wenn | habit
    when | wenn | habit
    when | als | past
    before | bevor | habit
    before | bevor | past
"""

# English (past, participle) | German infinitive, third person, participle | what the clause
# begins with; "not" marks a negated main clause.
REPORTS = """
    know knew known | wissen weiß gewusst | that/dass
    believe | glauben glaubt geglaubt | that/dass
    think thought thought | denken denkt gedacht | that/dass
    say said said | sagen sagt gesagt | that/dass
    hope | hoffen hofft gehofft | that/dass
    know knew known | wissen weiß gewusst | not whether/ob why/warum where/wo when/wann
    ask | fragen fragt gefragt | whether/ob why/warum where/wo when/wann
"""
CONTROLS = """
    try | versuchen versucht versucht
    hope | hoffen hofft gehofft
    plan | planen plant geplant
    promise | versprechen verspricht versprochen
    refuse | sich weigern weigert geweigert
"""
WEATHER = """
    rain | regnen regnet geregnet
    snow | schneien schneit geschneit
    thunder | donnern donnert gedonnert
"""
DEGREES = """
    very | sehr
    too | zu
    quite | ziemlich
"""
