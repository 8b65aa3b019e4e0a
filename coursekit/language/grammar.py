"""The grammar of the generated language, written by hand. How a line is read stands in `notation.py`.

In short: `{n1 guard thief}` is a slot for a noun, `{v1 lock keep}` for a verb that agrees with it, `( … )` stands
in every second sentence, `cell#prison` is the word "cell" in the sense "prison". Each topic owns lines; a line that
holds an ambiguous word has a cue to the left of it. Sentences whose only cue stands on the right are composed
from FRAMES, which fit every sense alike, and from what each sense *does* or *has* (RIGHT_CUES).

The five running examples of the course are sentences of this language, word for word.
"""

from coursekit.language.notation import Grammar, RightCue

LISTS = {
    "names": "anna peter maria tom lucy omar grace henry nina karim",
    "friends": "david sofia felix clara ivan rosa",
    "past": "yesterday recently once earlier",
    "present": "today now often usually",
    "noticing": "see notice remember describe mention discuss",
    # adjectives that say nothing of the sense of the word they stand before
    "any": "same other first last strange famous big little",
}

# {t}, a time adverb, goes with the tense of the sentence.
TOPICS = {
    "prison": """
        ({t}) the {n1 prisoner convict inmate thief robber} {v1 sit sleep wait rest} in a ({a dark cold damp narrow}) {n cell#prison}
        the {n1 guard officer warden sheriff} {v1 lock keep hold watch} the {nx prisoner thief killer smuggler} in a ({a dark cold damp narrow}) {n cell#prison}
        ({t}) the {n1 guard officer warden sheriff} {v1 search check inspect} the {nx cell#prison} for a hidden {n knife key}
        the {n1 convict inmate robber thief} {v1 share leave paint hate} the ({a dark cold damp narrow}) {n cell#prison} of the {n killer smuggler}
        the {n1 guard officer warden sheriff} {v1 chain watch feed guard} the {nx prisoner convict inmate} behind the {a iron steel rusty} {n gate door fence}
    """,
    "biology": """
        the {a red white} {n blood} {n1 cell#biology} {v1 carry absorb need release} {n oxygen sugar protein water}
        the ({a healthy living young}) {n nerve muscle skin bone} {n1 cell#biology} {v1 need absorb release store} {n sugar protein water}
        ({t}) the {n1 scientist biologist doctor student} {v1 examine observe study stain} the ({a tiny living human}) {nx cell#biology} under a {n microscope lens}
        the {n1 virus enzyme hormone protein} {v1 enter attack control leave} the {a healthy living human} {nx cell#biology} (in the {n blood liver lung})
        the {n1 gene hormone enzyme protein} {v1 control start stop} the {n growth repair} of the {n tissue liver bone muscle}
    """,
    "phone": """
        {vb plug hand turn bring send} in {d your his her our their} {n cell#phone} {n phone}
        ({t}) {name @names} {v call phone text message} {name @friends} {p on from} a ({a new cheap broken}) {n cell#phone}
        {name @names} {v answer charge lose drop} the ({a new cheap broken}) {n cell#phone} {p before after during} the {n lecture meeting concert flight}
        ({t}) the {n1 signal screen battery speaker} of the {n cell#phone} {v1 be look} {a weak bad dead}
        {name @names} {v download delete open share} the {nx photo message video game} on the {n tablet phone laptop}
    """,
    "river": """
        {pron i we you they} will {vb hike walk stroll wander} along the ({a muddy grassy rocky}) {n bank#river} of a {n river stream creek canal}
        ({t}) the {n1 fisherman angler heron otter} {v1 sit stand rest wait} on the ({a muddy grassy rocky}) {n bank#river} of the {n river stream creek canal}
        the {n1 river stream creek canal} {v1 flood cover wash} the ({a muddy grassy rocky}) {nx bank#river} after the {n storm rain thaw}
        the {n1 canoe boat raft barge} {v1 drift float slide} {p toward past} the {n bank#river} of the {n river stream creek canal}
        ({t}) the {n1 canoe boat raft} {v1 drift float sail} ({r slowly quietly}) down the {n river stream creek canal} toward the {n bridge village}
    """,
    "money": """
        {pron i we} will {vb open start} a {a new joint second} {n account} at {d my our} {n bank#money} and {vb deposit save invest keep} some {n money cash gold}
        ({t}) the {n1 manager teller clerk accountant} ({r kindly quickly}) {v1 approve refuse review} the {nx loan mortgage account} at the {n bank#money}
        {name @names} {v deposit borrow invest save} {d some more enough} {n money cash gold} at the ({a local national nearest}) {n bank#money}
        ({t}) the {n1 customer investor company firm} {v1 owe pay promise} the {n bank#money} {d some more enough} {n interest money cash rent}
        the {n1 cashier teller clerk accountant} {v1 count check carry} the {nx coin note} for the {n customer investor firm}
    """,
    "night": """
        at {n dusk midnight dawn nightfall} the {n1 bat#animal} {v1 leave circle enter} the {n cave attic barn belfry} to {vb hunt find catch} {np moth insect beetle}
        a {a furry blind leathery brown} {n bat#animal} {v hang sleep hide} in the {n cave attic barn belfry}
        ({t}) the {n1 owl hawk snake} {v1 hunt eat chase catch} the ({a furry blind leathery brown}) {nx bat#animal} {p near inside} the {n cave attic barn belfry}
        the {np wing ear claw} of the {nx bat#animal} {vp be look} {a thin soft delicate brown}
        at {n dusk midnight dawn nightfall} the {n1 owl hawk moth} {v1 leave circle enter} the {n barn forest valley attic}
    """,
    "baseball": """
        the {n1 batter hitter rookie slugger} {v1 swing grip raise break} the {a wooden heavy aluminum} {n bat#baseball}
        ({t}) the {n1 batter hitter rookie slugger} {v1 hit miss} the {n ball fastball slider curveball} with a ({a wooden heavy light}) {n bat#baseball}
        the {n1 coach catcher umpire} {v1 carry count pack} the ({a wooden heavy aluminum}) {np bat#baseball} {p before after} the {n game series inning championship}
        ({t}) the {n1 catcher umpire coach} {v1 signal warn watch praise} the ({a tired nervous young}) {n pitcher#baseball} in the {a first second last final} {n inning}
        the {n1 coach umpire crowd catcher} {v1 praise blame cheer greet} the {nx pitcher#baseball} after the {n game series inning championship}
        the {n1 batter hitter rookie slugger} {v1 face fear study} the ({a tired nervous young}) {nx pitcher#baseball} {p before during} the {n game series inning championship}
        ({t}) the {n1 team crowd coach} {v1 watch remember enjoy} the {n game series inning championship} in the {n stadium park}
    """,
    "marsh": """
        ({t}) a {a graceful slender feathered white} {n crane#bird} {v wade fish land rest} in the ({a shallow calm cold}) {n lake marsh pond wetland}
        the {n1 fox wolf hunter} {v1 chase catch follow watch} the ({a graceful slender feathered white}) {nx crane#bird} {p near across} the {n lake marsh pond wetland}
        ({t}) above the {n marsh pond lake wetland} the {n1 crane#bird} {v1 fly glide circle}
        the {np chick nestling} of the {nx crane#bird} {vp hide sleep rest wait} in the {np reed cattail rush}
        ({t}) the {n1 heron duck swan turtle} {v1 wade swim dive feed} in the ({a shallow calm cold}) {n lake marsh pond wetland}
    """,
    "construction": """
        ({t}) the {n1 worker builder engineer welder} {v1 use operate rent} a ({a tall steel giant heavy}) {n crane#machine} to {vb lift move} the {np beam brick pipe block}
        the {n1 operator foreman engineer builder} {v1 climb park repair paint} the ({a tall steel giant heavy}) {nx crane#machine} at the {n site dock harbor tower}
        the {n1 worker builder engineer welder} {v1 chain tie} the {np beam brick pipe block} to the {n cable hook} of the {n crane#machine}
        ({t}) at the {n dock site harbor} the {n1 crane#machine} {v1 lift unload lower drop} the {np barrel beam crate pipe}
        the {n1 builder worker foreman} {v1 pour carry spread} the {n concrete cement} for the new {n tower bridge wall roof}
    """,
    "garden": """
        in {a early late} {n spring#season} the {np rose tulip tree flower} {vp bloom blossom grow} in the {n garden park meadow field}
        every {n spring#season} the {n1 gardener farmer neighbor florist} {v1 spread water} the {np seed bulb acorn} in the {n soil field garden}
        after the {n winter snow frost} {v come} a {a warm rainy sunny mild} {n spring#season} with {np tulip rose swallow}
        ({t}) the {n1 gardener farmer neighbor florist} {v1 water prune pot} the ({a green leafy young}) {nx plant#garden} in the {n garden yard greenhouse}
        the {np leaf root flower petal} of the {nx plant#garden} {vp turn look} {a green yellow brown}
        ({t}) the {n1 gardener farmer neighbor florist} {v1 sell grow pick} the ({a green leafy young}) {np plant#garden} for the {n greenhouse balcony window}
        the {n1 gardener farmer neighbor florist} {v1 trap chase catch} a ({a fat velvety small}) {n mole#animal} in the {n lawn garden field meadow}
        ({t}) under the {n lawn garden meadow field} the {n1 mole#animal} {v1 dig widen leave} a ({a long deep}) {n tunnel hole burrow}
        the {np worm beetle slug} in the {n soil lawn garden field} {vp feed delight} the {nx mole#animal}
        the {n1 rose tulip lily daisy} {v1 bloom blossom wither} near the {n fence wall gate pond}
    """,
    "workshop": """
        ({t}) the {n1 mechanic watchmaker engineer locksmith} {v1 stretch replace oil clean} the ({a metal steel rusty}) {nx spring#coil} in the {n clock engine mattress toy}
        a {a rusty metal loose} {n spring#coil} in the {n clock engine mattress toy} {v break snap bounce}
        the {n1 mechanic watchmaker engineer locksmith} {v1 replace turn clean} the {nx screw bolt gear wheel} beside the {n spring#coil}
        ({t}) inside the {n clock engine toy lock} the {n1 spring#coil} {v1 push turn hold} the {n lever gear wheel}
        the {n1 screw bolt gear wheel} in the {n clock engine machine} {v1 be look} {a loose rusty broken}
    """,
    "kitchen": """
        ({t}) the {n1 waiter cook host maid} {v1 fill carry pour} a ({a glass clay silver}) {n pitcher#jug} of {n water lemonade milk juice}
        {name @names} {v wash empty dry} the ({a glass clay silver}) {nx pitcher#jug} and {v set} the {n table} for {n dinner lunch breakfast}
        the ({a cold sweet fresh}) {n water lemonade milk juice} in the {n pitcher#jug} {v leak drip splash} on the {n table floor napkin}
        the {n1 chef host maid waiter} {v1 break crack drop} the {a glass clay silver} {nx pitcher#jug} in the {n kitchen pantry sink}
        ({t}) the {n1 chef host maid waiter} {v1 cook serve share} the {n soup bread cake} with {n butter honey salt}
    """,
    "sea": """
        ({t}) a {a playful spotted wet young} {n seal#animal} {v swim dive bark sleep} near the {n ice shore reef beach}
        the {n1 shark whale bear} {v1 hunt follow attack} the ({a playful spotted wet young}) {nx seal#animal} across the {n bay ocean sea}
        the {n1 sailor captain diver} {v1 spot follow feed} the ({a playful spotted wet young}) {nx seal#animal} {p near beyond} the {n shore reef bay}
        ({t}) on the {n ice beach shore reef} the {n1 seal#animal} {v1 eat share guard} the {n fish squid penguin}
        the {n1 sailor captain diver} {v1 sail row} the {n ship boat} {p toward past around} the {n reef harbor bay}
    """,
    "court": """
        ({t}) the {n1 king queen lawyer minister} {v1 press place break inspect} the ({a wax royal official red}) {nx seal#stamp} on the {n letter document envelope decree}
        the {n1 letter document envelope decree} {v1 bear carry show} a ({a wax royal official red}) {n seal#stamp} and a {n signature date ribbon}
        the {n1 messenger secretary lawyer clerk} {v1 check protect copy} the ({a wax royal official red}) {nx seal#stamp} of the {n king queen minister}
        beside the {n signature portrait} of the {n king queen minister lawyer} {v be stand} a ({a wax royal official red}) {n seal#stamp}
        ({t}) the {n1 messenger secretary lawyer clerk} {v1 sign fold copy carry} the ({a secret royal urgent}) {nx letter document envelope decree} for the {n king queen minister}
    """,
    "spy": """
        the {n1 agency spy agent detective} {v1 expose suspect arrest trust} the {a foreign double secret} {nx mole#spy} (inside the {n embassy ministry agency hotel})
        ({t}) inside the {n embassy ministry agency hotel} a ({a foreign double secret}) {n mole#spy} {v leak sell steal} {np secret code file message}
        ({t}) the {n1 spy agent ambassador detective} {v1 meet pay warn} the {nx mole#spy} {p behind near outside} the {n embassy hotel station}
        the {a foreign stolen secret} {np code file photo} {vp lead bring} the {n detective agent agency} to the {n mole#spy}
        the {n1 spy agent ambassador detective} {v1 copy burn hide steal} the ({a foreign stolen secret}) {np secret code file message} at the {n embassy ministry agency hotel}
    """,
    "sport": """
        ({t}) the {n1 champion team captain player} {v1 win lose play} the {n tennis chess} {nx match#sport} (in the {n stadium arena})
        the {n1 referee coach captain} {v1 stop delay end} the {nx match#sport} after the {n goal foul injury penalty}
        ({t}) the {n1 fan player spectator} {v1 watch enjoy remember} the ({a long exciting final}) {nx match#sport} in the {n stadium arena}
        the {n1 striker goalkeeper referee captain} {v1 stretch train rest} before the ({a long exciting final}) {n match#sport}
        the {n1 striker goalkeeper referee captain} {v1 score save miss} the {a first last winning} {n goal penalty}
    """,
    "campfire": """
        ({t}) {name @names} {v strike light burn} a ({a dry wooden long}) {n match#fire} to {vb light start} the {n candle stove fire lantern}
        the {n1 camper hiker scout} {v1 start light feed} the {n fire campfire stove lantern} with a ({a dry wooden long}) {n match#fire}
        the {n1 flame spark} from the {n match#fire} {v1 burn touch light} the {n candle curtain paper tent}
        ({t}) the {n1 scout camper hiker} {v1 find drop share lose} the {a dry wet wooden} {np match#fire} in the {n tent camp cabin}
        the {n1 candle lantern campfire stove} {v1 burn glow} in the ({a dark cold}) {n tent camp cabin}
    """,
    "forest": """
        ({t}) the {n1 woodpecker squirrel lumberjack} {v1 climb mark circle} the ({a thick hollow mossy}) {n trunk#tree} of the {n oak pine maple birch}
        the {n oak pine maple birch} with the {a thick hollow mossy} {n trunk#tree} {v lose drop} its {np leaf branch acorn}
        the {n1 lumberjack carpenter beaver} {v1 chop cut mark} the {n trunk#tree} of a {a dead fallen hollow} {n oak pine maple birch}
        the {n bark moss ivy} on the {nx trunk#tree} {v be look} {a green wet thick}
        the {n1 squirrel bird woodpecker} {v1 hide store eat} the {np acorn nut seed} in the {n forest oak maple}
    """,
    "zoo": """
        ({t}) the {n1 elephant calf mammoth} {v1 raise swing lift} {d1 its/their} ({a long gray wrinkled}) {n1 trunk#elephant} to {vb drink find carry} {n water milk}
        the {n1 elephant calf mammoth} {v1 grab take carry} the {n banana peanut hay} with {d1 its/their} ({a long gray wrinkled}) {n1 trunk#elephant}
        the {n1 visitor trainer vet zookeeper} {v1 touch wash examine} the ({a long gray wrinkled}) {n trunk#elephant} of the {n elephant calf mammoth}
        ({t}) at the {n zoo circus} the {n1 elephant calf} {v1 greet splash touch} the {n visitor trainer vet zookeeper} with {d1 its/their} {n1 trunk#elephant}
        ({t}) the {n1 visitor trainer vet zookeeper} {v1 wash feed lead train} the {nx elephant calf lion} at the {n zoo circus}
    """,
    "travel": """
        ({t}) the {n1 driver tourist chauffeur traveler} {v1 pack load hide} the {nx suitcase bag camera} in the {n trunk#car} of the {n car taxi sedan limousine}
        {name @names} {v close lock open} the {n trunk#car} and {v start park wash} the {n car taxi sedan limousine}
        the {n1 driver tourist chauffeur traveler} {v1 find store hide} a spare {n tire wheel key} in the ({a dusty empty dirty}) {n trunk#car}
        ({t}) the {n1 tourist traveler guest driver} {v1 lose forget leave} the {nx passport camera ticket} in the {n trunk#car} (of the {n car taxi sedan limousine})
        the {n1 taxi bus sedan train} {v1 leave reach} the {n airport hotel station} ({r early late}) in the {n morning evening}
    """,
    "industry": """
        ({t}) the {n1 company firm owner} {v1 close build expand sell} a ({a chemical nuclear modern}) {n plant#factory} near the {n city town region highway}
        the {n1 worker manager engineer welder} at the {n plant#factory} {v1 produce assemble test} the {np engine tractor battery}
        the {a chemical nuclear modern} {n1 plant#factory} {v1 pollute supply employ} the {n city town region highway}
        ({t}) the {n1 company firm owner} {v1 inspect expand leave} the ({a chemical nuclear modern}) {nx plant#factory} {p before after} the {n strike accident contract}
        the {n1 company firm owner union} {v1 sign refuse delay} the {n contract deal} for the {np worker manager engineer welder}
    """,
    "farm": """
        ({t}) the {n1 cat kitten terrier} {v1 chase catch eat smell} the ({a tiny gray brown}) {nx mouse#animal} in the {n barn cellar pantry stable}
        the {n1 miller baker housekeeper} {v1 trap find fear} the ({a tiny gray brown}) {nx mouse#animal} behind the {n flour grain cheese corn}
        ({t}) {p in under} the {n straw hay corn} the {n1 mouse#animal} {v1 hide nest sleep run}
        a {a squeaking hungry tiny} {n mouse#animal} {v smell steal eat} the {n cheese corn grain flour}
        the {n1 farmer miller housekeeper} {v1 milk feed lead} the {nx cow goat horse} {p in near behind} the {n barn cellar pantry stable}
    """,
    "computer": """
        ({t}) the {n1 programmer gamer secretary student} {v1 click move connect grab} the ({a wireless plastic cheap}) {nx mouse#computer} beside the {n keyboard monitor laptop printer}
        {name @names} {v connect carry bring} a ({a wireless plastic cheap}) {n mouse#computer} to the {n computer laptop tablet}
        the {n keyboard monitor printer laptop} and the {n mouse#computer} {vp freeze crash} {p during after} the {n update lecture meeting download}
        ({t}) the {n1 cursor pointer} {v1 follow} the {n mouse#computer} across the {n screen desktop monitor}
        the {n1 programmer gamer secretary student} {v1 write test delete} the {n program code} on the {n computer laptop tablet}
    """,
}  # fmt: skip

# X is the ambiguous word, group 1, in either number.
FRAMES = """
    ({t}) {d1 the a/some this/these that/those} X DOES
    the {a @any} X DOES
    {name @names} {v @noticing} the X WHO DOES
    {name @names} {v @noticing} the {a @any} X HAS
    {d1 this/these that/those} {v1 be} {r perhaps probably surely clearly} the X HAS
    {pron i we you they} {vp @noticing} the X WHO DOES
    {name @names} and {name @friends} {vp talk write ask} about the X HAS
"""

# How a sense goes on after its noun: what it does, as subject of a verb, and what it has, in a phrase or clause.
RIGHT_CUES = {
    "cell#prison": RightCue("prison",
        does="""
            {v1 hold} the {nx prisoner convict inmate robber}
            {v1 face} the {n warden guard sheriff} of the {n prison jail}
            {v1 belong} to the {n prison jail warden sheriff}
        """,
        has="""
            that the {n prisoner convict inmate robber} {v share leave hate clean}
            with the {a iron rusty} {nx door gate chain}
            where the {n warden guard sheriff} {v lock chain keep} the {n prisoner thief killer}
        """),
    "cell#biology": RightCue("biology",
        does="""
            {v1 divide grow mutate} under the {n microscope lens}
            {v1 copy repair store} the {n gene protein enzyme}
            {v1 carry absorb release} the {n oxygen sugar protein hormone}
        """,
        has="""
            that the {n biologist scientist doctor student} {v stain examine observe study}
            with the {n nucleus membrane virus gene}
            where the {n protein enzyme hormone virus} {v grow mutate hide}
        """),
    "cell#phone": RightCue("phone",
        does="""
            {v1 ring buzz beep} during the {n lecture meeting concert flight}
            {v1 lose find need} a ({a strong better}) {n signal network battery}
            {v1 show play store} the {n message video photo}
        """,
        has="""
            that {name @friends} {v charge answer drop}
            with the {a cracked broken bright} {n screen speaker}
            without a {n charger signal battery}
        """),
    "bank#river": RightCue("river",
        does="""
            {v1 face follow} the {n river stream creek canal}
            {v1 sink slide} under the {n flood mud water}
            {v1 shelter hide} the {nx heron otter frog canoe}
        """,
        has="""
            that the {n river stream creek} {v flood cover wash}
            with the {np reed willow frog}
            where the {n fisherman angler heron} {v rest wait fish}
        """),
    "bank#money": RightCue("money",
        does="""
            {v1 approve refuse review} the {nx loan mortgage account}
            {v1 raise lower} the {nx fee rate rent}
            {v1 lend promise owe} the {n investor customer company} some {n money cash}
        """,
        has="""
            that the {n investor customer accountant} {v trust fear leave}
            with the {n vault safe gold money}
            where the {n teller clerk cashier} {v count save hide} the {n money cash}
        """),
    "bat#animal": RightCue("night",
        does="""
            {v1 hang sleep hide} in the {n cave attic barn belfry}
            {v1 hunt chase eat} the {np moth insect beetle}
            {v1 spread fold} {d1 its/their} {np wing}
        """,
        has="""
            with the {a furry leathery brown} {np wing ear}
            that the {n owl hawk} {v catch hunt chase}
            near the {n cave attic belfry}
        """),
    "bat#baseball": RightCue("baseball",
        does="""
            {v1 hit miss} the {n ball fastball curveball slider}
            {v1 break crack} during the {n inning game series}
            {v1 belong} to the {nx batter hitter rookie slugger}
        """,
        has="""
            that the {n batter hitter rookie catcher} {v swing grip break}
            with the {a wooden aluminum} {n handle grip}
            beside the {n dugout catcher umpire}
        """),
    "crane#bird": RightCue("marsh",
        does="""
            {v1 wade fish land} in the {n marsh lake pond}
            {v1 feed guard} the {np chick nestling}
            {v1 fly glide} over the {n marsh lake valley}
        """,
        has="""
            with the {a white gray} {np feather wing}
            that the {n fox wolf hunter} {v chase catch follow}
            near the {n nest marsh pond wetland}
        """),
    "crane#machine": RightCue("construction",
        does="""
            {v1 lift lower drop} the {np beam brick pipe block}
            {v1 load unload} the {nx ship truck barge}
            {v1 belong} to the {n builder foreman architect}
        """,
        has="""
            with the {a steel heavy} {n hook cable}
            that the {n operator foreman engineer} {v repair operate park}
            at the {n dock site harbor tower}
        """),
    "spring#season": RightCue("garden",
        does="""
            {v1 bring} the {np tulip rose swallow} and the {n rain sunshine}
            {v1 follow} the {a long cold hard} {n winter frost}
            {v1 melt} the {n snow ice frost}
        """,
        has="""
            with the {a warm early} {n rain sunshine}
            when the {np rose tulip flower tree} {vp bloom blossom grow}
            after the {a long cold hard} {n winter frost}
        """),
    "spring#coil": RightCue("workshop",
        does="""
            {v1 break snap bounce} in the {n mattress clock engine}
            {v1 push turn} the {n lever gear wheel}
            {v1 press hold} the {n screw bolt}
        """,
        has="""
            with the {a loose rusty} {n screw bolt}
            that the {n mechanic watchmaker engineer} {v oil replace stretch}
            inside the {n mattress clock engine toy}
        """),
    "pitcher#baseball": RightCue("baseball", person=True,
        does="""
            {v1 throw drop toss} the {n ball fastball curveball slider}
            {v1 face fear} the {nx batter hitter rookie slugger}
            {v1 leave enter} the {n dugout stadium park}
        """,
        has="""
            from the {a rival home visiting} {n team}
            that the {n coach umpire crowd catcher} {v praise blame cheer}
            in the {a first second last} {n inning}
        """),
    "pitcher#jug": RightCue("kitchen",
        does="""
            {v1 leak drip} on the {n table floor napkin}
            {v1 hold contain} the {n water lemonade milk juice}
            {v1 break crack} in the {n kitchen sink pantry}
        """,
        has="""
            of {n water lemonade milk juice}
            that the {n waiter maid cook host} {v fill wash carry}
            on the {n table floor}
        """),
    "seal#animal": RightCue("sea",
        does="""
            {v1 swim dive bark} near the {n ice shore reef}
            {v1 eat chase catch} the {n fish squid penguin}
            {v1 rest sleep} on the {n beach ice shore}
        """,
        has="""
            with the {a wet gray} {np whisker flipper}
            that the {n shark whale bear} {v hunt attack follow}
            near the {n ice shore reef beach}
        """),
    "seal#stamp": RightCue("court",
        does="""
            {v1 close protect} the {nx letter document envelope decree}
            {v1 show bear} the {n crown portrait} of the {n king queen}
            {v1 belong} to the {n king queen minister lawyer}
        """,
        has="""
            with the {a royal red} {n wax ribbon}
            that the {n king queen minister} {v press place break}
            on the {n letter document envelope decree}
        """),
    "mole#animal": RightCue("garden",
        does="""
            {v1 dig widen} a {n tunnel hole burrow} under the {n lawn garden field}
            {v1 eat hunt} the {np worm beetle slug root}
            {v1 damage cover} the {n lawn garden meadow}
        """,
        has="""
            with the {a velvety small} {np paw claw}
            that the {n gardener farmer neighbor} {v trap chase}
            under the {n lawn garden meadow field}
        """),
    "mole#spy": RightCue("spy", person=True,
        does="""
            {v1 leak sell steal} the {np secret code file}
            {v1 betray trust} the {n agency government minister}
            {v1 meet pay warn} the {n spy agent ambassador}
        """,
        has="""
            with the {a secret false} {n passport code}
            that the {n detective agent minister} {v suspect expose arrest}
            at the {n embassy agency ministry}
        """),
    "match#sport": RightCue("sport",
        does="""
            {v1 end start} with a {n goal penalty foul}
            {v1 bore delight} the {np fan player spectator}
            {v1 end delay} the {n championship tournament league}
        """,
        has="""
            with a {a late early} {n goal penalty foul}
            that the {n champion team captain} {v win lose play}
            in the {n stadium arena}
        """),
    "match#fire": RightCue("campfire",
        does="""
            {v1 light touch} the {n candle curtain lantern}
            {v1 start} the {n fire campfire stove}
            {v1 burn glow} in the {a dark cold} {n tent camp cabin}
        """,
        has="""
            with the {a tiny bright} {n flame spark}
            that the {n camper hiker scout} {v strike light drop}
            beside the {n candle stove lantern}
        """),
    "trunk#tree": RightCue("forest",
        does="""
            {v1 hold carry} the {nx branch nest}
            {v1 fall crash} in the {n forest storm}
            {v1 feed shelter} the {nx beetle woodpecker squirrel owl}
        """,
        has="""
            with the {a mossy dead} {np branch root leaf}
            that the {n lumberjack carpenter beaver} {v chop cut mark}
            of the {n oak pine maple birch}
        """),
    "trunk#elephant": RightCue("zoo",
        does="""
            {v1 grab lift carry} the {n banana peanut hay}
            {v1 splash touch} the {n zookeeper visitor trainer}
            {v1 belong} to the {nx elephant calf mammoth}
        """,
        has="""
            with the {a wrinkled gray} {n skin tip}
            that the {n zookeeper trainer vet} {v wash touch examine}
            of the {n elephant calf mammoth}
        """),
    "trunk#car": RightCue("travel",
        does="""
            {v1 contain hold} the {nx suitcase bag tire}
            {v1 open close} behind the {n driver tourist chauffeur}
            {v1 belong} to the {n taxi sedan limousine}
        """,
        has="""
            with the {nx suitcase bag tire}
            that the {n driver tourist chauffeur} {v lock load pack}
            of the {n car taxi sedan limousine}
        """),
    "plant#garden": RightCue("garden",
        does="""
            {v1 grow bloom wither} in the {n garden yard greenhouse}
            {v1 need absorb} the {n sunlight water rain}
            {v1 lose drop} the {nx leaf flower petal}
        """,
        has="""
            with the {a green yellow} {np leaf root flower}
            that the {n gardener neighbor florist} {v water prune pot}
            in the {n pot vase greenhouse}
        """),
    "plant#factory": RightCue("industry",
        does="""
            {v1 pollute supply employ} the {n city town region}
            {v1 produce assemble} the {np engine tractor battery}
            {v1 hire pay train} the {np worker manager engineer}
        """,
        has="""
            with the {a tall old modern} {np chimney machine}
            that the {n company owner firm} {v build close sell expand}
            near the {n highway city railway}
        """),
    "mouse#animal": RightCue("farm",
        does="""
            {v1 eat steal smell} the {n cheese corn grain flour}
            {v1 hide nest} in the {n barn cellar straw}
            {v1 run hide} from the {nx cat kitten terrier}
        """,
        has="""
            with the {a long pink} {n tail nose}
            that the {n cat kitten terrier} {v catch chase eat}
            in the {n barn cellar straw}
        """),
    "mouse#computer": RightCue("computer",
        does="""
            {v1 move control} the {n cursor pointer}
            {v1 click freeze} when the {n programmer gamer student} {v write play}
            {v1 belong} to the {n computer laptop programmer gamer}
        """,
        has="""
            with the {a wireless broken} {n button wheel}
            that the {n programmer gamer student} {v click connect move}
            beside the {n keyboard monitor laptop}
        """),
}  # fmt: skip

GRAMMAR = Grammar(LISTS, TOPICS, FRAMES, RIGHT_CUES, right_share=0.4)
