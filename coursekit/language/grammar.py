"""The grammar of the course's generated language, as text. `notation.py` explains the notation, `kinds.py` the kinds of sentences.

The lines of the senses of one word are *parallel*: the first line of "bank#river" has as many words, choices and
optional parts as the first of "bank#money", and so on for the actions and properties of a sense. Therefore neither the position
of the word nor the length of the sentence reveals the sense, and no word before it reveals the side of the split.

In ORDER, people of one sense and people of another sense of the same word appear, and only who does what determines the
sense. The five running examples of the course are sentences of this language, word for word.
"""

from coursekit.language.notation import Grammar, RightCue

LISTS = {
    "names": "anna peter maria tom lucy omar grace henry nina karim",
    "friends": "david sofia felix clara ivan rosa",
    "past": "yesterday recently once earlier",
    "present": "today now often usually",
    # what anybody does to anything; perceive, meet and judge in sentences in which order decides
    "noticing": "see notice remember describe mention discuss",
    "acts": "describe mention discuss remember notice admire imagine sketch want like check paint",
    "meets": "visit thank help greet warn follow call know meet blame trust watch",
    "says": "say think know hear believe hope",
    "pleases": "please surprise worry bore delight frighten",
    "beside": "for beside behind near",
    # adjectives that reveal nothing about the sense of the word after them
    "any": "same other first last strange famous big little",
}

TOPICS = {
    "prison": """
        ({t}) the {n1 prisoner convict inmate thief robber} {v1 sit sleep wait rest} in a ({a dark cold damp narrow}) {n cell#prison}
        the {a cold damp} {n prison} {n1 cell#prison} {v1 hold keep face hide} {np prisoner thief killer smuggler}
        {vb go walk climb crawl look} through {d your his her our their} {n cell#prison} {n door}
        ({t}) the {n1 guard officer warden sheriff} {v1 search check inspect lock} the ({a dark cold narrow}) {nx cell#prison} for a {n knife key}
        the {n1 guard officer warden sheriff} {v1 lock keep hold watch} the {nx prisoner thief killer smuggler} in a ({a dark cold damp narrow}) {n cell#prison}
        the {n1 guard officer warden sheriff} {v1 enter leave search hate} the {a dark cold damp} {nx cell#prison} (in the {n prison jail tower})
        the {n1 guard officer warden sheriff} {v1 chain watch feed guard} the {nx prisoner convict inmate} behind the {a iron steel rusty} {n gate door fence}
        the {n1 prisoner convict inmate thief} {v1 hate fear blame} the {n smuggler killer warden} with the hidden {n knife key}
    """,
    "biology": """
        ({t}) the {n1 virus enzyme hormone protein gene} {v1 hide grow mutate move} in a ({a healthy living human tiny}) {n cell#biology}
        the {a red white} {n blood} {n1 cell#biology} {v1 carry absorb need release} {n oxygen sugar protein water}
        {vb look zoom peer dive move} into {d your his her our their} {n cell#biology} {n sample}
        ({t}) the {n1 scientist biologist doctor student} {v1 examine observe study stain} the ({a tiny living human}) {nx cell#biology} under a {n microscope lens}
        the {n1 scientist biologist doctor student} {v1 find place keep watch} the {nx virus gene protein enzyme} in a ({a healthy living human tiny}) {n cell#biology}
        the {n1 virus enzyme hormone protein} {v1 enter attack control leave} the {a healthy living human} {nx cell#biology} (in the {n blood liver lung})
        the {n1 gene hormone enzyme protein} {v1 control start stop attack} the {n growth repair} of the {n tissue liver bone muscle}
        the {n nerve muscle skin lung} {v absorb store need} the {n sugar protein water} of the {n blood body}
    """,
    "phone": """
        ({t}) the {n1 teenager caller singer reporter friend} {v1 talk speak chat write} on a ({a new cheap broken loud}) {n cell#phone}
        the {a new cheap} {n pocket} {n1 cell#phone} {v1 play store show send} {np message photo video game}
        {vb plug hand turn bring send} in {d your his her our their} {n cell#phone} {n phone}
        ({t}) the {n1 teenager caller singer reporter} {v1 charge answer lose drop} the ({a new cheap broken}) {nx cell#phone} before a {n meeting lecture}
        the {n1 teenager caller singer reporter} {v1 store keep find watch} the {nx photo video message game} on a ({a new cheap broken loud}) {n cell#phone}
        the {n1 student friend caller singer} {v1 buy lose find drop} the {a new cheap broken} {nx cell#phone} (in the {n hotel airport station})
        {name @names} {v download delete open share} the {nx photo message video game} on the {n tablet phone laptop}
        {name @names} {v call phone text message} {name @friends} {p before after during from} the {n lecture meeting concert flight}
        the {n1 signal screen battery speaker} of the {n phone tablet} {v1 be look} {a weak bad dead}
        ({t}) the {n1 phone tablet laptop} {v1 need find lose} a {a strong better} {n signal network battery}
    """,
    "river": """
        {pron i we you they} will {vb hike walk stroll wander} along the ({a muddy grassy rocky}) {n bank#river} of a {n river stream creek canal}
        {pron i we} will {vb pitch build} a {a small green warm} {n tent} on {d my our} {n bank#river} and {vb catch eat watch cook} some {n fish trout salmon}
        ({t}) the {n1 fisherman angler heron otter} {v1 sit stand rest fish} on the ({a muddy grassy rocky}) {n bank#river} of the {n river stream creek canal}
        the {n1 river stream creek canal} {v1 flood cover wash} the ({a muddy grassy rocky}) {nx bank#river} after the {n storm rain thaw}
        the {n1 canoe boat raft barge} {v1 drift float slide} {p toward past} the {n bank#river} of the {n river stream creek canal}
        the {n1 boat raft barge} {v1 stop turn} where the {n fisherman angler heron} {v rest wait fish}
        ({t}) the {n1 canoe boat raft} {v1 drift float sail} ({r slowly quietly}) down the {n river stream creek canal} toward the {n bridge village}
    """,
    "money": """
        {pron i we you they} will {vb wait work pay queue} at the ({a local national nearest}) {n bank#money} of a {n village town city company}
        {pron i we} will {vb open start} a {a new joint second} {n account} at {d my our} {n bank#money} and {vb deposit save invest keep} some {n money cash gold}
        ({t}) the {n1 manager teller clerk accountant} {v1 work wait stay pay} at the ({a local national nearest}) {n bank#money} of the {n customer investor firm company}
        the {n1 customer investor company firm} {v1 trust leave owe} the ({a local national nearest}) {nx bank#money} after the {n loan contract deal}
        the {n1 cashier manager clerk accountant} {v1 hurry run walk} {p to from} the {n bank#money} with the {n money cash coin loan}
        the {n1 cashier teller clerk accountant} {v1 count check carry approve} the {nx coin note mortgage} for the {n customer investor firm}
        ({t}) the {n1 manager accountant clerk} ({r kindly quickly}) {v1 refuse review borrow} {d some more enough} {n interest money cash rent}
        the {n1 customer investor} {v1 deposit borrow invest promise} {d some more enough} {n money cash gold}
        the {n1 investor company firm} {v1 pay raise lower} the {np fee rate loan} of the {n customer clerk}
    """,
    "night": """
        at {n dusk midnight dawn nightfall} the {n1 bat#animal} {v1 leave circle enter} the {n cave attic barn belfry}
        a {a furry blind leathery brown} {n bat#animal} {v hang sleep hide} in the {n cave attic barn belfry}
        ({t}) the {n1 owl hawk snake cat} {v1 hunt eat chase catch} the ({a furry blind leathery brown}) {nx bat#animal} {p near inside} the {n cave attic barn belfry}
        the {np wing ear claw} of the {nx bat#animal} {vp be look} {a thin soft delicate brown}
        the {n1 owl hawk snake cat} {v1 watch smell follow fear} the {a furry leathery blind} {n bat#animal}
        at {n dusk midnight dawn nightfall} the {n1 owl hawk moth} {v1 leave circle enter} the {n barn forest valley attic} to {vb hunt find catch} {np moth insect beetle}
    """,
    "baseball": """
        in {n baseball softball cricket practice} the {n1 bat#baseball} {v1 hit miss touch} the {n ball fastball slider curveball}
        a {a wooden heavy aluminum light} {n bat#baseball} {v lean stand break} in the {n dugout stadium locker park}
        ({t}) the {n1 coach catcher umpire batter} {v1 carry count pack clean} the ({a wooden heavy aluminum light}) {nx bat#baseball} {p before after} the {n game series inning championship}
        the {np handle grip owner} of the {nx bat#baseball} {vp be look} {a smooth long worn dirty}
        the {n1 batter hitter rookie slugger} {v1 swing grip raise break} the {a wooden heavy aluminum} {n bat#baseball}
        ({t}) the {n1 catcher umpire coach crowd} {v1 warn watch praise} a ({a tired nervous young}) {n pitcher#baseball} in {n practice baseball training softball}
        {name @names} {v cheer greet blame} the ({a tired nervous young}) {nx pitcher#baseball} and {v leave} the {n stadium} for {n dinner lunch breakfast}
        the {n1 batter hitter rookie slugger} {v1 face fear study} the ({a tired nervous young}) {nx pitcher#baseball} during the {n game series inning championship}
        the ({a big noisy happy}) {n crowd coach team umpire} behind the {n pitcher#baseball} {v cheer wait signal} in the {n stadium park arena}
        the {n1 fan coach crowd} {v1 blame cheer greet} the {a visiting rival home} {nx team slugger rookie}
        ({t}) the {n1 team crowd coach} {v1 watch remember enjoy} the {a first second last final} {n game series inning championship} in the {n stadium park}
    """,
    "marsh": """
        ({t}) a {a graceful slender feathered white} {n crane#bird} {v wade fish land rest} in the ({a shallow calm cold}) {n lake marsh pond wetland}
        the {n1 fox wolf hunter} {v1 chase catch follow watch} the ({a graceful slender feathered white}) {nx crane#bird} {p near across} the {n lake marsh pond wetland}
        ({t}) above the {n marsh pond lake} the {n1 crane#bird} {v1 watch chase follow circle} the {np swan duck turtle frog}
        the {np chick nestling} of the {nx crane#bird} {vp hide sleep rest wait} in the {np reed cattail rush}
        ({t}) the {n1 hunter painter ranger poet} {v1 disturb frighten call} a ({a graceful slender feathered white}) {n crane#bird} to {vb draw count} the {np feather egg wing nest}
        ({t}) the {n1 heron duck swan turtle} {v1 wade swim dive feed} in the ({a shallow calm cold}) {n lake marsh pond wetland}
    """,
    "construction": """
        ({t}) a {a tall steel giant heavy} {n crane#machine} {v stand work wait turn} at the ({a busy noisy old}) {n site dock harbor tower}
        the {n1 operator foreman engineer} {v1 climb park repair paint} the ({a tall steel giant heavy}) {nx crane#machine} {p at near} the {n site dock harbor tower}
        ({t}) at the {n dock site harbor} the {n1 crane#machine} {v1 lift unload lower drop} the {np barrel beam crate pipe}
        the {np hook cable} of the {nx crane#machine} {vp swing hang stop turn} over the {np beam brick block}
        ({t}) the {n1 worker builder engineer welder} {v1 use operate rent} a ({a tall steel giant heavy}) {n crane#machine} to {vb lift move} the {np beam brick pipe block}
        the {n1 builder worker foreman} {v1 pour carry spread} the {n concrete cement} for the new {n tower bridge wall roof}
        the {n1 worker builder} {v1 load unload} the {np ship truck barge} at the {n dock harbor site}
        the {n1 worker builder engineer welder} {v1 chain tie} the {np beam brick pipe block} to the {n cable hook}
    """,
    "garden": """
        after the {n winter snow frost} {v come} a {a warm rainy sunny mild} {n spring#season} with {np tulip rose swallow}
        ({t}) the {n1 gardener farmer neighbor florist} {v1 enjoy await welcome praise} the ({a warm rainy sunny}) {nx spring#season} in the {n garden park meadow field}
        a {a warm mild sunny} {n spring#season} in the {n garden park meadow field} {v come pass end}
        the {n1 gardener farmer neighbor florist} {v1 water pick spread} the {nx seed bulb acorn rose} before the {n spring#season}
        ({t}) after the {n winter snow frost rain} the {n1 spring#season} {v1 warm cover change} the {n garden meadow field}
        ({t}) the {n1 gardener farmer neighbor florist} {v1 water prune pot} the ({a green leafy young}) {nx plant#garden} in the {n garden yard greenhouse}
        the {np leaf root flower petal} of the {nx plant#garden} {vp turn look} {a green yellow brown}
        ({t}) the {n1 gardener farmer neighbor florist} {v1 sell grow pick} the ({a green leafy young}) {np plant#garden} for the {n greenhouse balcony window}
        the {n1 bee beetle slug worm} on the {n plant#garden} {v1 eat damage cover} the {np leaf flower petal}
        the {a green leafy young} {n1 plant#garden} {v1 cover climb hide} the {n fence wall gate balcony}
        the {n1 gardener farmer neighbor florist} {v1 trap chase catch} a ({a fat velvety small}) {n mole#animal} in the {n lawn garden field meadow}
        ({t}) under the {n lawn garden meadow field} the {n1 mole#animal} {v1 dig widen leave} a ({a long deep}) {n tunnel hole burrow}
        the {np worm beetle slug} in the {n soil lawn garden field} {vp feed delight} the {nx mole#animal}
        ({t}) the {n1 dog cat terrier fox} {v1 smell hunt bite} the {nx mole#animal} {p behind near beside} the {n greenhouse burrow fence}
        the {n1 rose tulip lily daisy} {v1 bloom blossom wither} near the {n fence wall gate pond}
        every {n winter evening morning} the {n1 gardener farmer florist} {v1 clean open} the {n greenhouse garden gate}
        after a {a long cold hard} {n winter frost} the {n1 rose tulip daisy} {v1 bloom blossom wither}
    """,
    "workshop": """
        inside the {n clock engine toy} {v sit} a {a rusty metal loose tight} {n spring#coil} with {np screw bolt gear}
        ({t}) the {n1 mechanic watchmaker engineer locksmith} {v1 stretch replace oil clean} the ({a metal steel rusty}) {nx spring#coil} in the {n clock engine mattress toy}
        a {a rusty metal loose} {n spring#coil} in the {n clock engine mattress toy} {v break snap bounce}
        the {n1 mechanic watchmaker engineer locksmith} {v1 replace turn clean} the {nx screw bolt gear wheel} beside the {n spring#coil}
        ({t}) inside the {n clock engine toy lock} the {n1 spring#coil} {v1 push turn hold} the {n lever gear wheel}
        the {n1 screw bolt gear wheel} in the {n clock engine machine} {v1 be look} {a loose rusty broken}
    """,
    "kitchen": """
        ({t}) the {n1 waiter cook host maid} {v1 fill carry pour} a ({a glass clay silver}) {n pitcher#jug} of {n water lemonade milk juice}
        {name @names} {v wash empty dry} the ({a glass clay silver}) {nx pitcher#jug} and {v set} the {n table} for {n dinner lunch breakfast}
        the {n1 chef host maid waiter} {v1 break crack drop} the ({a glass clay silver}) {nx pitcher#jug} in the {n kitchen pantry sink cellar}
        the ({a cold sweet fresh}) {n water lemonade milk juice} in the {n pitcher#jug} {v leak drip splash} on the {n table floor napkin}
        ({t}) the {n1 chef host maid waiter} {v1 cook serve share} the {n soup bread cake} with {n butter honey salt}
    """,
    "sea": """
        ({t}) a {a playful spotted wet young} {n seal#animal} {v swim dive bark sleep} near the {n ice shore reef beach}
        the {n1 shark whale bear} {v1 hunt follow attack} the ({a playful spotted wet young}) {nx seal#animal} across the {n bay ocean sea}
        ({t}) the {n1 sailor captain diver fisherman} {v1 spot follow feed watch} the ({a playful spotted wet young}) {nx seal#animal} near the {n shore reef bay beach}
        ({t}) on the {n ice beach shore reef} the {n1 seal#animal} {v1 eat share guard} the {n fish squid penguin}
        the {n1 shark whale bear diver} {v1 meet chase follow} a ({a playful spotted wet young}) {n seal#animal} and a {n penguin turtle squid}
        the {n1 sailor captain diver} {v1 sail row} the {n ship boat} {p toward past around beyond} the {n reef harbor bay}
    """,
    "court": """
        ({t}) a {a wax royal official red} {n seal#stamp} {v hang break glow appear} on the {n letter document envelope decree}
        the {n1 messenger secretary lawyer} {v1 check protect copy} the ({a wax royal official red}) {nx seal#stamp} of the {n king queen minister}
        ({t}) the {n1 king queen lawyer minister} {v1 press place break inspect} the ({a wax royal official red}) {nx seal#stamp} on the {n letter document envelope decree}
        ({t}) on the {n letter document envelope decree} the {n1 seal#stamp} {v1 cover show bear} the {n signature date portrait}
        the {n1 letter document envelope decree} {v1 bear carry show} a ({a wax royal official red}) {n seal#stamp} and a {n signature date ribbon}
        ({t}) the {n1 messenger secretary lawyer clerk} {v1 sign fold copy carry} the ({a secret royal urgent}) {nx letter document envelope decree} for the {n king queen minister}
    """,
    "spy": """
        the {n1 agency spy agent detective} {v1 expose suspect arrest} a ({a foreign double secret}) {n mole#spy} inside the {n embassy ministry agency hotel}
        ({t}) inside the {n embassy ministry agency hotel} the {n1 mole#spy} {v1 leak sell steal} a ({a foreign stolen}) {n code file message}
        the {np code file photo} from the {n hotel station ministry embassy} {vp expose frighten} the {nx mole#spy}
        ({t}) the {n1 spy agent ambassador detective} {v1 meet pay warn} the {nx mole#spy} {p behind near outside} the {n embassy hotel station}
        the {n1 spy agent ambassador detective} {v1 copy burn hide steal} the ({a foreign stolen secret}) {np secret code file message} at the {n embassy ministry agency hotel}
        the {a foreign stolen secret} {np code file photo} {vp lead bring} the {n detective agent agency} to the {n embassy station hotel}
    """,
    "sport": """
        ({t}) the {n1 champion team captain player} {v1 win lose play} the {n tennis chess} {nx match#sport} (in the {n stadium arena})
        the {n1 referee coach captain} {v1 stop delay end} the {nx match#sport} after the {n goal foul injury penalty}
        ({t}) the {n1 fan player spectator} {v1 watch enjoy remember} the ({a long exciting final}) {nx match#sport} in the {n stadium arena}
        the {n1 striker goalkeeper referee captain} {v1 stretch train rest} before a ({a long exciting final}) {n match#sport}
        {name @names} {v win lose play} a ({a long exciting final}) {n match#sport} to {vb delight thank} the {n coach team crowd captain}
        the {n1 striker goalkeeper referee captain} {v1 score save miss signal} the {a first last winning} {n goal penalty}
    """,
    "campfire": """
        ({t}) the {n1 camper hiker scout cook} {v1 light strike burn} the {n safety kitchen} {nx match#fire} (in the {n tent cabin})
        the {n1 camper hiker scout} {v1 strike light lose} the {nx match#fire} beside the {n candle stove fire lantern}
        ({t}) the {n1 scout camper hiker} {v1 drop share find} the ({a dry wet wooden}) {nx match#fire} in the {n tent camp}
        the {n1 candle lantern campfire stove} {v1 start burn glow} with a ({a dry wooden long}) {n match#fire}
        {name @names} {v strike light burn} a ({a dry wooden long}) {n match#fire} to {vb light start} the {n candle stove fire lantern}
        the {n1 candle lantern campfire stove} {v1 burn glow} in the ({a dark cold}) {n tent camp cabin}
        the {n1 flame spark} from the {n candle fire stove} {v1 burn touch light} the {n curtain paper tent lantern}
    """,
    "forest": """
        ({t}) the {n1 woodpecker squirrel lumberjack} {v1 climb mark circle} the ({a thick hollow mossy}) {n trunk#tree} of the {n oak pine maple}
        the {n oak pine maple birch} with the {a thick hollow mossy} {n trunk#tree} {v lose drop} its {np leaf branch acorn}
        ({t}) the {n1 squirrel bird woodpecker} {v1 hide store eat} the {nx acorn nut seed} in the {n trunk#tree}
        ({t}) the {n1 lumberjack carpenter beaver} {v1 chop cut mark} the ({a dead fallen hollow}) {n1 trunk#tree} to {vb build sell burn} {np boat table}
        the {n bark moss ivy} of the {n oak pine maple birch} {v be look} {a green wet thick}
        the {n1 squirrel bird woodpecker} {v1 hide store eat} the {np acorn nut seed} in the {n forest oak maple}
    """,
    "zoo": """
        ({t}) the {n1 trainer vet zookeeper} {v1 touch wash examine} the ({a long gray wrinkled}) {n trunk#elephant} of the {n elephant calf mammoth}
        the {n elephant calf mammoth mother} with the {a long gray wrinkled} {n trunk#elephant} {v find drop} its {np banana peanut apple}
        ({t}) the {n1 elephant calf mammoth} {v1 grab take carry} the {nx banana peanut apple} with the {n trunk#elephant}
        ({t}) the {n1 elephant calf mammoth} {v1 raise swing lift} {d1 its/their} ({a long gray wrinkled}) {n1 trunk#elephant} to {vb drink find carry} {n water milk}
        ({t}) the {n1 visitor trainer vet zookeeper} {v1 wash feed lead train} the {nx elephant calf lion} at the {n zoo circus}
        ({t}) at the {n zoo circus} the {n1 elephant calf} {v1 greet splash touch} the {n visitor trainer vet zookeeper}
    """,
    "travel": """
        ({t}) the {n1 driver tourist chauffeur} {v1 close lock open} the ({a dusty empty dirty}) {n trunk#car} of the {n car taxi sedan}
        the {n car taxi sedan limousine} with the {a dusty empty dirty} {n trunk#car} {v lose need} its {np tire wheel key}
        ({t}) the {n1 driver tourist traveler} {v1 pack load hide} the {nx suitcase bag camera} in the {n trunk#car}
        ({t}) the {n1 driver tourist chauffeur} {v1 open empty clean} the ({a dusty empty dirty}) {n1 trunk#car} to {vb find carry store} {np camera ticket}
        ({t}) the {n1 tourist traveler guest driver} {v1 lose forget leave} the {nx passport camera ticket} in the {n hotel taxi train}
        the {n1 taxi bus sedan train} {v1 leave reach} the {n airport hotel station} ({r early late}) in the {n morning evening}
    """,
    "industry": """
        ({t}) the {n1 company firm owner manager} {v1 inspect expand leave} the ({a chemical nuclear modern}) {nx plant#factory} after the {n strike accident contract}
        the {np engineer manager worker owner} of the {nx plant#factory} {vp grow look} {a rich angry tired}
        ({t}) the {n1 company firm owner union} {v1 close build sell} the ({a chemical nuclear modern}) {np plant#factory} near the {n city town region}
        the {n1 worker manager engineer welder} at the {n plant#factory} {v1 produce assemble test} the {np engine tractor battery}
        the {a chemical nuclear modern} {n1 plant#factory} {v1 pollute supply employ} the {n city town region highway}
        the {n1 company firm owner union} {v1 sign refuse delay} the {n contract deal} for the {np worker manager engineer welder}
    """,
    "farm": """
        ({t}) the {n1 cat kitten terrier owl} {v1 chase catch eat smell} the ({a tiny gray brown}) {nx mouse#animal} in the {n barn cellar pantry stable}
        the {n1 miller baker housekeeper} {v1 trap find fear} the ({a tiny gray brown}) {nx mouse#animal} behind the {n flour grain cheese corn}
        ({t}) under the {n straw hay corn} the {n1 mouse#animal} {v1 hide nest sleep run}
        a {a squeaking hungry tiny} {n mouse#animal} {v smell steal eat} the {n cheese corn grain flour}
        ({t}) the {n1 dog terrier} {v1 chase follow} the {n mouse#animal} across the {n barn stable cellar}
        the {n1 farmer miller housekeeper} {v1 milk feed lead} the {nx cow goat horse} {p in near behind} the {n barn cellar pantry stable}
    """,
    "computer": """
        ({t}) the {n1 programmer gamer secretary student} {v1 click move connect grab} the ({a wireless plastic cheap}) {nx mouse#computer} beside the {n keyboard monitor laptop printer}
        the {n1 programmer gamer secretary} {v1 connect carry bring} the ({a wireless plastic cheap}) {nx mouse#computer} to the {n computer laptop tablet desktop}
        ({t}) beside the {n keyboard monitor printer} the {n1 mouse#computer} {v1 freeze crash stop blink}
        a {a wireless plastic broken} {n mouse#computer} {v move control follow} the {n cursor pointer screen window}
        ({t}) the {n1 cursor pointer} {v1 follow obey} the {n mouse#computer} across the {n screen desktop monitor}
        the {n1 programmer gamer secretary student} {v1 write test delete} the {n program code} on the {n computer laptop tablet}
        the {n1 computer laptop tablet} {v1 freeze crash} when the {n programmer gamer student} {v write play}
        the {n keyboard monitor printer laptop} and the {n computer tablet} {vp freeze crash} {p during after} the {n update lecture meeting download}
    """,
}  # fmt: skip

# X is the ambiguous word in either number.
FRAMES = """
    ({t}) {d1 the a/some this/these that/those} X DOES
    the {a @any} X DOES
    {name @names} {v @noticing} the X WHO DOES
    {name @names} {v @noticing} the {a @any} X HAS
    {d1 this/these that/those} {v1 be} {r perhaps probably surely clearly} the X HAS
    {pron i we you they} {vp @noticing} the X WHO DOES
    {name @names} and {name @friends} {vp talk write ask} about the X HAS
"""

# OWN are people of the sense, OTHER are people of another sense of the same word: the sense is that of the people who act.
# X is singular or plural; X1 agrees in number with its verb.
ORDER = {
    "order1": """
        ({r @past}) the OWN {vd @acts} the X {p @beside} the OTHER
        ({r @past}) {p @beside} the OTHER the OWN {vd @acts} the X
        ({r @past}) the X1 {aux1 was/were} {vd @acts} by the OWN {p @beside} the OTHER
        ({r @past}) the X1 {aux1 was/were} {vd @acts} {p @beside} the OTHER by the OWN
    """,
    "order2": """
        ({r @past}) the OWN that the OTHER {vd @meets} {vd @acts} the X
        ({r @past}) the OTHER {vd @meets} the OWN that {vd @acts} the X
        ({r @past}) the OWN that {vd @meets} the OTHER {vd @acts} the X
        ({r @past}) the OTHER {vd @says} that the OWN {vd @acts} the X
        ({r @past}) the X that the OWN {vd @acts} {vd @pleases} the OTHER
        ({r @past}) the X1 that {vd @pleases} the OTHER {aux1 was/were} {vd @acts} by the OWN
    """,
}

# The actions and properties of each sense, all in parallel; its people; things like it; adjectives and places.
SENSES = {
    "cell#prison": RightCue("prison",
        does="""
            {v1 hold keep hide} the {nx prisoner convict inmate robber}
            {v1 belong lead open} to the {n prison jail warden sheriff}
            {v1 face shelter} the {n warden guard sheriff killer} of the {n prison jail town}
        """,
        has="""
            with the {a iron rusty} {nx door gate chain}
            that the {n prisoner convict inmate} {v share leave hate}
            in the {n prison jail dungeon tower}
        """,
        people="prisoner convict inmate robber", things="prison jail gate dungeon", looks="dark damp narrow"),
    "cell#biology": RightCue("biology",
        does="""
            {v1 absorb copy release} the {nx gene protein hormone enzyme}
            {v1 divide grow mutate} in the {n tissue liver lung blood}
            {v1 store carry} the {n oxygen sugar protein water} of the {n muscle bone skin}
        """,
        has="""
            with the {a round double} {nx nucleus membrane gene}
            that the {n biologist scientist doctor} {v stain examine observe}
            under the {n microscope lens glass lamp}
        """,
        people="scientist biologist doctor chemist", things="gene protein enzyme virus", looks="healthy living human"),
    "cell#phone": RightCue("phone",
        does="""
            {v1 show play store} the {nx message video photo game}
            {v1 ring buzz beep} during the {n lecture meeting concert flight}
            {v1 lose find} the {n signal network battery charger} of the {n caller teenager company}
        """,
        has="""
            with the {a cracked bright} {nx screen speaker battery}
            that the {n teenager caller reporter} {v charge answer drop}
            without the {n charger signal battery speaker}
        """,
        people="teenager caller singer reporter", things="phone tablet charger laptop", looks="cheap broken loud"),
    "bank#river": RightCue("river",
        does="""
            {v1 shelter hide feed} the {nx heron otter frog turtle}
            {v1 sink slide end} under the {n flood mud water bridge}
            {v1 face follow} the {n river stream creek canal} of the {n village valley town}
        """,
        has="""
            with the {a tall green} {nx reed willow frog}
            that the {n river stream creek} {v flood cover wash}
            near the {n bridge river stream village}
        """,
        people="fisherman angler swimmer hiker", things="river stream creek canal", looks="muddy grassy rocky"),
    "bank#money": RightCue("money",
        does="""
            {v1 approve refuse review} the {nx loan mortgage account rent}
            {v1 belong lend owe} to the {n investor customer company firm}
            {v1 raise lower} the {n fee rate interest rent} of the {n customer investor loan}
        """,
        has="""
            with the {a safe rich} {nx vault account coin}
            that the {n investor customer accountant} {v trust fear leave}
            without the {n money cash gold loan}
        """,
        people="manager teller clerk accountant", things="account loan vault coin", looks="local national modern"),
    "bat#animal": RightCue("night",
        does="""
            {v1 hunt chase eat} the {nx moth insect beetle worm}
            {v1 hang sleep hide} in the {n cave attic barn belfry}
            {v1 spread fold} the {n wing ear claw tail} of the {n chick mother owl}
        """,
        has="""
            with the {a furry leathery} {nx wing ear claw}
            that the {n owl hawk snake} {v catch hunt chase}
            near the {n cave attic belfry barn}
        """,
        people="explorer biologist zoologist ranger", things="moth owl insect cave", looks="furry blind leathery"),
    "bat#baseball": RightCue("baseball",
        does="""
            {v1 hit miss touch} the {nx ball fastball curveball slider}
            {v1 break crack slip} during the {n inning game series practice}
            {v1 face help} the {n batter hitter rookie slugger} of the {n team coach game}
        """,
        has="""
            with the {a wooden aluminum} {nx handle grip mark}
            that the {n batter hitter rookie} {v swing grip break}
            beside the {n dugout catcher umpire locker}
        """,
        people="batter hitter rookie slugger", things="ball fastball curveball slider", looks="wooden heavy aluminum"),
    "pitcher#baseball": RightCue("baseball", person=True,
        does="""
            {v1 throw drop toss} the {nx ball fastball curveball slider}
            {v1 sit wait stand} in the {n dugout stadium park arena}
            {v1 face fear} the {n batter hitter rookie slugger} of the {n team coach game}
        """,
        has="""
            with the {a rival home} {nx team coach cap}
            that the {n coach umpire catcher} {v praise blame cheer}
            from the {n team dugout stadium series}
        """,
        people="coach umpire catcher spectator", things="game season inning championship", looks="tired nervous young"),
    "pitcher#jug": RightCue("kitchen",
        does="""
            {v1 hold contain spill} the {nx drink flower fruit spoon}
            {v1 leak drip stand} on the {n table floor napkin sink}
            {v1 touch scratch} the {n glass plate table wall} of the {n kitchen host cook}
        """,
        has="""
            with the {a broken round} {nx handle lid spout}
            that the {n waiter maid cook} {v fill wash carry}
            on the {n table floor napkin shelf}
        """,
        people="waiter cook maid host", things="drink glass plate table", looks="glass clay silver"),
    "crane#bird": RightCue("marsh",
        does="""
            {v1 feed guard warm} the {nx chick nestling frog duck}
            {v1 fly glide land} over the {n marsh lake valley wetland}
            {v1 leave circle} the {n nest marsh pond lake} of the {n swan heron duck}
        """,
        has="""
            with the {a white gray} {nx feather wing chick}
            that the {n fox wolf hunter} {v chase catch follow}
            near the {n nest marsh pond wetland}
        """,
        people="hunter painter ranger poet", things="swan duck heron nest", looks="graceful slender feathered"),
    "crane#machine": RightCue("construction",
        does="""
            {v1 lift lower drop} the {nx beam brick pipe block}
            {v1 stand work rust} at the {n dock site harbor tower}
            {v1 load unload} the {n ship truck barge crate} of the {n builder foreman architect}
        """,
        has="""
            with the {a steel heavy} {nx hook cable motor}
            that the {n operator foreman engineer} {v repair operate park}
            at the {n dock site harbor tower}
        """,
        people="builder foreman operator welder", things="beam tower wall bridge", looks="tall steel giant"),
    "spring#season": RightCue("garden",
        does="""
            {v1 bring warm feed} the {nx tulip rose swallow tree}
            {v1 come end pass} after the {n winter frost snow ice}
            {v1 melt follow} the {n snow ice frost winter} of the {n field meadow valley}
        """,
        has="""
            with the {a warm early} {nx storm flower evening}
            that the {n gardener farmer florist} {v await enjoy welcome}
            after the {n winter frost snow ice}
        """,
        people="gardener farmer neighbor florist", things="winter tulip rose bulb", looks="warm rainy mild"),
    "spring#coil": RightCue("workshop",
        does="""
            {v1 push turn hold} the {nx lever gear wheel bolt}
            {v1 break snap bounce} in the {n mattress clock engine toy}
            {v1 press move} the {n screw bolt lever gear} of the {n lock clock machine}
        """,
        has="""
            with the {a loose rusty} {nx screw bolt gear}
            that the {n mechanic watchmaker engineer} {v oil replace stretch}
            inside the {n mattress clock engine toy}
        """,
        people="mechanic watchmaker engineer locksmith", things="screw bolt gear lever", looks="metal steel rusty"),
    "seal#animal": RightCue("sea",
        does="""
            {v1 eat chase catch} the {nx seahorse penguin turtle crab}
            {v1 swim dive bark} near the {n ice shore reef beach}
            {v1 guard lead} the {n fish penguin squid pup} of the {n bay reef sea}
        """,
        has="""
            with the {a wet gray} {nx whisker flipper pup}
            that the {n shark whale bear} {v hunt attack follow}
            near the {n ice shore reef beach}
        """,
        people="sailor captain diver fisherman", things="shark whale penguin reef", looks="playful spotted wet"),
    "seal#stamp": RightCue("court",
        does="""
            {v1 close protect mark} the {nx letter document envelope decree}
            {v1 hang melt break} on the {n letter document envelope decree}
            {v1 show bear} the {n crown portrait signature date} of the {n king queen minister}
        """,
        has="""
            with the {a royal red} {nx ribbon crown portrait}
            that the {n king queen minister} {v press place break}
            on the {n letter document envelope decree}
        """,
        people="king queen minister lawyer", things="letter document envelope decree", looks="wax royal official"),
    "mole#animal": RightCue("garden",
        does="""
            {v1 eat hunt find} the {nx worm beetle slug root}
            {v1 dig sleep hide} under the {n lawn garden field meadow}
            {v1 widen damage} the {n tunnel hole burrow lawn} of the {n garden field farmer}
        """,
        has="""
            with the {a velvety small} {nx paw claw nose}
            that the {n gardener farmer neighbor} {v trap chase catch}
            under the {n lawn garden meadow field}
        """,
        people="gardener farmer neighbor florist", things="tunnel burrow lawn worm", looks="fat velvety small"),
    "mole#spy": RightCue("spy", person=True,
        does="""
            {v1 leak sell steal} the {nx secret code file message}
            {v1 work hide wait} at the {n embassy ministry agency hotel}
            {v1 betray trust} the {n agency government minister ambassador} of the {n king city queen}
        """,
        has="""
            with the {a secret false} {nx passport code file}
            that the {n detective agent minister} {v suspect expose arrest}
            at the {n embassy agency ministry station}
        """,
        people="detective agent ambassador spy", things="secret code file embassy", looks="foreign double secret"),
    "match#sport": RightCue("sport",
        does="""
            {v1 bore delight tire} the {nx fan player spectator striker}
            {v1 end start stop} with the {n goal penalty foul injury}
            {v1 open delay} the {n championship tournament league season} of the {n city region town}
        """,
        has="""
            with the {a late early} {nx goal penalty foul}
            that the {n champion team captain} {v win lose play}
            in the {n stadium arena league tournament}
        """,
        people="striker goalkeeper referee captain", things="goal penalty foul tournament", looks="long exciting final"),
    "match#fire": RightCue("campfire",
        does="""
            {v1 light burn touch} the {nx candle curtain lantern stove}
            {v1 burn glow break} in the {n tent camp cabin dark}
            {v1 start warm} the {n fire campfire stove lantern} of the {n camper hiker scout}
        """,
        has="""
            with the {a tiny bright} {nx flame spark tip}
            that the {n camper hiker scout} {v strike light drop}
            beside the {n candle stove lantern campfire}
        """,
        people="camper hiker scout cook", things="fire candle lantern campfire", looks="dry wooden wet"),
    "trunk#tree": RightCue("forest",
        does="""
            {v1 feed shelter carry} the {nx beetle woodpecker squirrel nest}
            {v1 fall crash stand} in the {n forest storm valley park}
            {v1 hold support} the {n branch nest moss ivy} of the {n oak pine birch}
        """,
        has="""
            with the {a mossy dead} {nx branch root leaf}
            that the {n lumberjack carpenter beaver} {v chop cut mark}
            of the {n oak pine maple birch}
        """,
        people="lumberjack carpenter forester ranger", things="oak pine maple branch", looks="thick hollow mossy"),
    "trunk#elephant": RightCue("zoo",
        does="""
            {v1 grab lift carry} the {nx banana peanut branch apple}
            {v1 hang swing belong} near the {n elephant calf mammoth zoo}
            {v1 splash touch} the {n zookeeper visitor trainer vet} of the {n zoo circus lion}
        """,
        has="""
            with the {a wrinkled gray} {nx tip wrinkle nostril}
            that the {n zookeeper trainer vet} {v wash touch examine}
            of the {n elephant calf mammoth mother}
        """,
        people="zookeeper trainer vet visitor", things="elephant calf mammoth circus", looks="long gray wrinkled"),
    "trunk#car": RightCue("travel",
        does="""
            {v1 contain hold hide} the {nx suitcase bag tire camera}
            {v1 open close rattle} behind the {n driver tourist chauffeur guest}
            {v1 protect damage} the {n suitcase ticket passport bag} of the {n driver traveler guest}
        """,
        has="""
            with the {a spare heavy} {nx suitcase bag tire}
            that the {n driver tourist chauffeur} {v lock load pack}
            of the {n car taxi sedan limousine}
        """,
        people="driver tourist chauffeur traveler", things="taxi sedan suitcase tire", looks="dusty empty dirty"),
    "plant#garden": RightCue("garden",
        does="""
            {v1 lose drop open} the {nx leaf flower petal seed}
            {v1 grow bloom wither} in the {n garden yard greenhouse pot}
            {v1 need absorb} the {n sunlight sunshine water rain} of the {n garden field yard}
        """,
        has="""
            with the {a green yellow} {nx leaf root flower}
            that the {n gardener neighbor florist} {v water prune pot}
            in the {n pot vase greenhouse balcony}
        """,
        people="gardener farmer neighbor florist", things="flower petal leaf greenhouse", looks="green leafy young"),
    "plant#factory": RightCue("industry",
        does="""
            {v1 produce assemble sell} the {nx engine tractor battery machine}
            {v1 open close work} near the {n highway city railway region}
            {v1 hire pay} the {n worker manager engineer welder} of the {n city town region}
        """,
        has="""
            with the {a tall old} {nx chimney machine railway}
            that the {n company owner firm} {v build close expand}
            near the {n highway city railway town}
        """,
        people="owner worker manager engineer", things="engine tractor battery contract", looks="chemical nuclear modern"),
    "mouse#animal": RightCue("farm",
        does="""
            {v1 steal smell fear} the {nx cheese crumb kitten cat}
            {v1 hide nest run} in the {n barn cellar straw pantry}
            {v1 eat spoil} the {n cheese corn grain flour} of the {n miller baker farmer}
        """,
        has="""
            with the {a long pink} {nx tail nose ear}
            that the {n cat kitten terrier} {v catch chase eat}
            in the {n barn cellar straw stable}
        """,
        people="miller baker housekeeper farmer", things="cheese barn kitten mill", looks="tiny gray brown"),
    "mouse#computer": RightCue("computer",
        does="""
            {v1 move control click} the {nx cursor pointer window button}
            {v1 freeze crash blink} during the {n update download game lecture}
            {v1 follow obey} the {n hand programmer gamer student} of the {n company school office}
        """,
        has="""
            with the {a wireless broken} {nx button wheel cable}
            that the {n programmer gamer student} {v click connect move}
            beside the {n keyboard monitor laptop printer}
        """,
        people="programmer gamer secretary student", things="computer keyboard monitor printer", looks="wireless plastic cheap"),
}  # fmt: skip

GRAMMAR = Grammar(
    LISTS,
    TOPICS,
    shares={"none": 0.08, "left": 0.20, "right": 0.22, "order1": 0.20, "order2": 0.30},
    frames=FRAMES,
    right_cues=SENSES,
    order=ORDER,
)
