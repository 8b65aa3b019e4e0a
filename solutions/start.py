# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Words in Context
#
# A prisoner sits in a *cell*, a red blood *cell* carries oxygen, and a *cell* phone rings. A single vector per word
# cannot distinguish these three senses. The sixteen notebooks of this course lead from such vectors to models whose vector for a word depends on its
# sentence, and you build every tensor along the way yourself. At the end, a project applies all this to a text of your own.

# %% [markdown]
# ## Is everything installed?
#
# Click into the next cell and press **Shift+Enter**. The cell imports the packages that the notebooks need, which takes a few seconds.

# %%
from coursekit import installation

installation()

# %% [markdown]
# Each line shows what was found, or explains what to do if something is missing. When all lines show ✓,
# [begin with the first notebook](01_static_embeddings/01_static_embeddings.ipynb).

# %% [markdown]
# ## See a word's vector move
#
# Type sentences with *bank*, *cell*, *mouse* or another word from the list. For GloVe, ELMo, BERT and a decoder, the picture shows how the word's vector
# moves between its senses from layer to layer, and the colour of each other word shows towards which sense it moves the vector. Can you write a sentence
# that misleads BERT? Nothing here is graded, and all of it will be explained in notebooks 01 to 08.

# %% tags=["demo"]
from coursekit.word_explorer import explore

explore("bank")

# %% [markdown]
# From bottom to top, the line passes through the model's layers. Each vertical line marks the mean of example sentences with one sense, measured along the
# direction in which the senses differ; the shaded bands contain about two thirds of the other example sentences with each sense. For a word with three senses, the means are the corners of a triangle. The colours
# show attention × value, summed over all heads and layers; feed-forward layers move the vector as well.

# %% [markdown]
# ## Where you are
#
# Below the next cell you see where to begin. Run the cell after a break: it then shows where to continue, and how many checks of each notebook pass.

# %%
from coursekit import course_map

course_map()

# %% [markdown]
# ## The map
#
# The minutes cover the core path: reading, exercises and written answers. Sections whose heading contains *Further* or *Extension* take additional time, but
# no later notebook depends on them. Extensions earn extra credit, as do the *Further* sections of some notebooks.
#
# | | notebook | minutes | by the end you can | needs | unlocks |
# |:--|:--|:--|:--|:--|:--|
# | 01 | [One vector per word](01_static_embeddings/01_static_embeddings.ipynb) | 85 | count and train word vectors, compare them with people's ratings, and explain what one vector per word cannot represent | | 02, 12, P |
# | 02 | [Attention, step by step](02_attention/02_attention.ipynb) | 80 | compute attention by hand, in a batch, with masks and with heads | 01 | 03 |
# | 03 | [The transformer layer](03_transformer_layer/03_transformer_layer.ipynb) | 80 | write the parts of a transformer as your own modules, match PyTorch's layer, and train it | 02 | 04, 06, 07, 13 |
# | 04 | [Recurrence, encoder–decoder, and what attention costs](04_recurrence/04_recurrence.ipynb) | 80 | write an LSTM step, attention and a decoder block, and measure how much each step improves translation | 03 | 05, 07 |
# | 05 | [ELMo](05_elmo/05_elmo.ipynb) | 80 | train two language models, one for each direction, and mix their layers | 04 | 06, 12 |
# | 06 | [BERT](06_bert/06_bert.ipynb) | 85 | split words into subwords, mask tokens and pre-train an encoder | 03, 05 | 08, 09, 11, 15 |
# | 07 | [GPT](07_gpt/07_gpt.ipynb) | 90 | write a GPT with a cache, train it, load GPT-2's weights, and show which words the model cannot see | 03, 04 | 08, 12, 13, 14, 15, 16, P |
# | 08 | [Inside a pre-trained transformer](08_inside/08_inside.ipynb) | 80 | examine a word's vector at every layer and distinguish its senses | 06, 07 | 09, 15, P |
# | 09 | [Fine-tuning](09_fine_tuning/09_fine_tuning.ipynb) | 85 | choose which parameters to train, at which learning rate and for how long, and measure forgetting | 06, 08 | 10, 14 |
# | 10 | [Applications: sentiment, entities, questions](10_applications/10_applications.ipynb) | 85 | train three heads on one encoder and evaluate each with a suitable measure | 09 | 12 |
# | 11 | [Sentences and documents](11_sentences/11_sentences.ipynb) | 80 | turn sentences into vectors and search with them | 06 | 12 |
# | 12 | [One corpus, four models](12_one_corpus/12_one_corpus.ipynb) | 85 | compare all models on the same words, with intervals, find the false claim in a report, and write tests whose quality is measured | all | P |
# | 13 | [Today's decoders](13_decoders/13_decoders.ipynb) | 85 | write a decoder with the components used today, and run it with SmolLM2's weights | 03, 07 | |
# | 14 | [From base model to assistant](14_assistant/14_assistant.ipynb) | 85 | fine-tune a model to answer questions and to match preferences, and measure what it forgets | 07, 09 | 16 |
# | 15 | [Taking a model apart](15_circuits/15_circuits.ipynb) | 90 | find out what a head, a position and a direction do, and test your findings against the truth | 06, 07, 08 | |
# | 16 | [Learning from rewards](16_rewards/16_rewards.ipynb) | 85 | train a policy on rewards, compare it with the best policy, and predict when a wrong reward does harm | 07, 14 | |
# | P | [A project of one's own](project/project.ipynb) | 85 | train a GPT on a text of your own, find the senses of a word in it, and support one claim with an interval and a control | 01, 07, 08, 12 | |

# %% [markdown]
# ## How a notebook works
#
# - **Predict.** Before some cells you commit to a prediction. You learn most when your prediction is wrong.
# - **Fill in.** A cell that contains `raise NotImplementedError` is an exercise; its docstring describes the task and gives the shapes.
# - **Check.** The cell below the exercise runs your function on small inputs and shows your result next to the correct one.
#   If your mistake is a known one, the check names it.
# - **Hint.** `hint("attention.similarities")` starts with a question; call it again for further hints.
#
# [The students' guide](../docs/students.md) shows all this in pictures; the [glossary](../docs/glossary.md) explains
# each term.
#
# You can stop at any time, because JupyterLab saves your work. After a break, choose *Run → Run All Above Selected Cell*.

# %% [markdown]
# ## Notation
#
# The same letters name the same axes in every notebook, in formulas, docstrings and types:
# `Float[Tensor, "B H T d"]` is a tensor of floating-point numbers with four axes.
#
# | letter | axis | for example |
# |:--|:--|:--|
# | B | batch: sentences computed together | 16 |
# | T | tokens of a sentence, padding included | 11 |
# | D | dimensions of a word's vector (the model's width) | 50 for GloVe, 768 for BERT-Base |
# | H | attention heads | 12 for BERT-Base |
# | d | dimensions of one head, usually D / H | 64 for BERT-Base |
# | L | layers; with the input embeddings there are L+1 vectors for each token | 12 for BERT-Base |
# | V | vocabulary: words or subwords | 400,000 for GloVe, 30,522 for BERT |
#
# | name | what it is |
# |:--|:--|
# | `queries`, `keys`, `values` | the three roles of a vector in attention (`q`, `k`, `v` in formulas) |
# | `scores` | dot products of queries and keys, before the softmax |
# | `weights` | scores after the softmax: each row sums to 1 |
# | `keep` | a mask that is True where a token may be attended to |
# | `ids` | indices of tokens in the vocabulary |
# | `hidden` | the vectors that a layer passes to the next layer |
# | `logits` | unnormalised log-probabilities over V, or over classes |

# %% [markdown]
# ## The sentences
#
# Two words appear throughout the course, always in these sentences:
#
# - The prisoner sat in a dark **cell**.
# - The red blood **cell** carries oxygen.
# - Plug in your **cell** phone.
# - I will hike along the **bank** of a river.
# - I will open a new account at my **bank** and deposit some money.
