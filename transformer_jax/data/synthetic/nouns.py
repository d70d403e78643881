"""The nouns of the synthetic corpus, a table in a dictionary's notation.

A line is one noun; a vertical bar separates columns.
"""

# English singular and plural | German article, singular, genitive ending, plural.
# A dash stands for what does not exist: a feminine's genitive ending, a mass noun's plural.
# A masculine with the genitive in -n is weak: it has that ending in every case but the nominative.
NOUNS = {
    "person": """
        man men | der Mann -es Männer
        woman women | die Frau - Frauen
        child children | das Kind -es Kinder
        boy boys | der Junge -n Jungen
        girl girls | das Mädchen -s Mädchen
        baby babies | das Baby -s Babys
        doctor doctors | der Arzt -es Ärzte
        teacher teachers | der Lehrer -s Lehrer
        student students | der Student -en Studenten
        nurse nurses | die Krankenschwester - Krankenschwestern
        neighbor neighbors | der Nachbar -n Nachbarn
        friend friends | der Freund -es Freunde
        farmer farmers | der Bauer -n Bauern
        baker bakers | der Bäcker -s Bäcker
        gardener gardeners | der Gärtner -s Gärtner
        king kings | der König -s Könige
        queen queens | die Königin - Königinnen
        prince princes | der Prinz -en Prinzen
        princess princesses | die Prinzessin - Prinzessinnen
        tourist tourists | der Tourist -en Touristen
        painter painters | der Maler -s Maler
        actress actresses | die Schauspielerin - Schauspielerinnen
        policeman policemen | der Polizist -en Polizisten
        waitress waitresses | die Kellnerin - Kellnerinnen
        guest guests | der Gast -es Gäste
        colleague colleagues | der Kollege -n Kollegen
        soldier soldiers | der Soldat -en Soldaten
        fisherman fishermen | der Fischer -s Fischer
        lady ladies | die Dame - Damen""",
    "relative": """
        father fathers | der Vater -s Väter
        mother mothers | die Mutter - Mütter
        brother brothers | der Bruder -s Brüder
        sister sisters | die Schwester - Schwestern
        son sons | der Sohn -es Söhne
        daughter daughters | die Tochter - Töchter
        uncle uncles | der Onkel -s Onkel
        aunt aunts | die Tante - Tanten
        grandfather grandfathers | der Großvater -s Großväter
        grandmother grandmothers | die Großmutter - Großmütter
        nephew nephews | der Neffe -n Neffen
        niece nieces | die Nichte - Nichten""",
    "animal": """
        dog dogs | der Hund -es Hunde
        cat cats | die Katze - Katzen
        horse horses | das Pferd -es Pferde
        cow cows | die Kuh - Kühe
        sheep sheep | das Schaf -es Schafe
        pig pigs | das Schwein -s Schweine
        duck ducks | die Ente - Enten
        goose geese | die Gans - Gänse
        mouse mice | die Maus - Mäuse
        rabbit rabbits | das Kaninchen -s Kaninchen
        bear bears | der Bär -en Bären
        lion lions | der Löwe -n Löwen
        monkey monkeys | der Affe -n Affen
        elephant elephants | der Elefant -en Elefanten
        fox foxes | der Fuchs -es Füchse
        goat goats | die Ziege - Ziegen""",
    "fodder": """
        carrot carrots | die Karotte - Karotten
        apple apples | der Apfel -s Äpfel
        bread - | das Brot -es -
        salad - | der Salat -s -""",
    "food": """
        pear pears | die Birne - Birnen
        banana bananas | die Banane - Bananen
        potato potatoes | die Kartoffel - Kartoffeln
        egg eggs | das Ei -es Eier
        cake cakes | der Kuchen -s Kuchen
        sausage sausages | die Wurst - Würste
        soup - | die Suppe - -
        cheese - | der Käse -s -
        meat - | das Fleisch -es -
        chocolate - | die Schokolade - -
        rice - | der Reis -es -""",
    "drink": """
        milk - | die Milch - -
        water - | das Wasser -s -
        tea - | der Tee -s -
        coffee - | der Kaffee -s -
        wine - | der Wein -s -
        juice - | der Saft -es -
        beer - | das Bier -es -""",
    "text": """
        book books | das Buch -es Bücher
        newspaper newspapers | die Zeitung - Zeitungen
        poem poems | das Gedicht -es Gedichte
        novel novels | der Roman -s Romane
        magazine magazines | die Zeitschrift - Zeitschriften""",
    "mail": """
        letter letters | der Brief -es Briefe
        postcard postcards | die Postkarte - Postkarten
        story stories | die Geschichte - Geschichten""",
    "question": """
        question questions | die Frage - Fragen
        word words | das Wort -es Wörter
        rule rules | die Regel - Regeln""",
    "dish": """
        glass glasses | das Glas -es Gläser
        plate plates | der Teller -s Teller
        cup cups | die Tasse - Tassen
        bottle bottles | die Flasche - Flaschen
        vase vases | die Vase - Vasen""",
    "clothes": """
        shirt shirts | das Hemd -es Hemden
        coat coats | der Mantel -s Mäntel
        jacket jackets | die Jacke - Jacken
        hat hats | der Hut -es Hüte
        dress dresses | das Kleid -es Kleider
        skirt skirts | der Rock -es Röcke
        sweater sweaters | der Pullover -s Pullover""",
    "device": """
        lamp lamps | die Lampe - Lampen
        radio radios | das Radio -s Radios
        computer computers | der Computer -s Computer
        machine machines | die Maschine - Maschinen
        television televisions | der Fernseher -s Fernseher""",
    "toy": """
        ball balls | der Ball -es Bälle
        doll dolls | die Puppe - Puppen
        kite kites | der Drachen -s Drachen""",
    "thing": """
        key keys | der Schlüssel -s Schlüssel
        bag bags | die Tasche - Taschen
        umbrella umbrellas | der Regenschirm -s Regenschirme
        knife knives | das Messer -s Messer
        picture pictures | das Bild -es Bilder
        present presents | das Geschenk -s Geschenke
        ring rings | der Ring -es Ringe
        suitcase suitcases | der Koffer -s Koffer
        camera cameras | die Kamera - Kameras
        blanket blankets | die Decke - Decken""",
    "furniture": """
        table tables | der Tisch -es Tische
        chair chairs | der Stuhl -es Stühle
        bed beds | das Bett -es Betten
        sofa sofas | das Sofa -s Sofas
        bench benches | die Bank - Bänke
        shelf shelves | das Regal -s Regale""",
    "opening": """
        door doors | die Tür - Türen
        window windows | das Fenster -s Fenster
        gate gates | das Tor -es Tore
        drawer drawers | die Schublade - Schubladen""",
    "car": """
        car cars | das Auto -s Autos
        bicycle bicycles | das Fahrrad -es Fahrräder
        truck trucks | der Lastwagen -s Lastwagen
        motorcycle motorcycles | das Motorrad -es Motorräder""",
    "transport": """
        bus buses | der Bus -ses Busse
        train trains | der Zug -es Züge
        ship ships | das Schiff -es Schiffe
        streetcar streetcars | die Straßenbahn - Straßenbahnen""",
    "room": """
        kitchen kitchens | die Küche - Küchen
        room rooms | das Zimmer -s Zimmer
        bathroom bathrooms | das Badezimmer -s Badezimmer
        cellar cellars | der Keller -s Keller
        office offices | das Büro -s Büros
        garage garages | die Garage - Garagen""",
    "building": """
        house houses | das Haus -es Häuser
        school schools | die Schule - Schulen
        church churches | die Kirche - Kirchen
        hospital hospitals | das Krankenhaus -es Krankenhäuser
        hotel hotels | das Hotel -s Hotels
        museum museums | das Museum -s Museen
        station stations | der Bahnhof -s Bahnhöfe
        library libraries | die Bibliothek - Bibliotheken
        castle castles | das Schloss -es Schlösser
        factory factories | die Fabrik - Fabriken""",
    "outdoors": """
        garden gardens | der Garten -s Gärten
        park parks | der Park -s Parks
        forest forests | der Wald -es Wälder
        city cities | die Stadt - Städte
        village villages | das Dorf -es Dörfer
        valley valleys | das Tal -es Täler""",
    "plant": """
        tree trees | der Baum -es Bäume
        flower flowers | die Blume - Blumen
        rose roses | die Rose - Rosen
        bush bushes | der Busch -es Büsche""",
    "barrier": """
        wall walls | die Mauer - Mauern
        fence fences | der Zaun -s Zäune
        bridge bridges | die Brücke - Brücken
        river rivers | der Fluss -es Flüsse""",
    "event": """
        concert concerts | das Konzert -s Konzerte
        party parties | die Party - Partys
        exam exams | die Prüfung - Prüfungen
        wedding weddings | die Hochzeit - Hochzeiten
        trip trips | die Reise - Reisen
        game games | das Spiel -s Spiele
        movie movies | der Film -s Filme
        meeting meetings | die Besprechung - Besprechungen
        holiday holidays | der Feiertag -s Feiertage""",
    "cause": """
        rain - | der Regen -s -
        snow - | der Schnee -s -
        storm storms | der Sturm -es Stürme
        noise - | der Lärm -s -
        heat - | die Hitze - -
        fog - | der Nebel -s -""",
}
