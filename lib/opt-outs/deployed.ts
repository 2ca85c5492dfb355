import { documents, environmentVariable, secretValue } from '../aws/deployed.ts';
import { storePause } from '../aws/pause.ts';
import { keptFor } from '../aws/secrets.ts';
import type { OptOutList } from './opt-out-list.ts';
import { optOutListStore } from './opt-out-list-store.ts';
import { type OptOutLook, optOutLook, optOutWriter } from './opt-out-store.ts';
import { personKey } from './person-key.ts';
import { type NameOf, personNames } from './person-name.ts';
import type { OptOutPorts } from './record-word.ts';
import type { WordList } from './stop-words.ts';
import { wordListReader } from './word-list-store.ts';

/** It never changes, and a container outlives no day. */
const keyKeptSeconds = 86_400;

/** So long after a provisioning old words may count. */
const wordsKeptMs = 60_000;

/** How people are named. The key is read with the first name that is asked for, so that a worker without opt-outs never reads it. */
export function deployedPersonNames(): () => Promise<NameOf> {
  return secretValue('PERSON_KEY_SECRET', keyKeptSeconds, (text) => personNames(personKey(text)));
}

function messages() {
  return { documentClient: documents(), tableName: environmentVariable('MESSAGES_TABLE'), pause: storePause };
}

/** What recording opt-outs takes. */
export function deployedOptOutWriter(): () => Promise<OptOutPorts> {
  const names = deployedPersonNames();
  return async () => optOutWriter(messages(), await names());
}

/** What is asked before a call; it reads the key with the first person that is looked for. */
export function deployedOptOutLook(): OptOutLook {
  return optOutLook(messages(), deployedPersonNames());
}

/** Which words of people count: what provisioning says, a minute old at most. A failed reading is not kept. */
export function deployedWordList(): () => Promise<WordList> {
  return keptFor(wordsKeptMs, Date.now, wordListReader(documents(), environmentVariable('DIRECTORY_TABLE')));
}

/** The lists of clients; without the key. */
export function deployedOptOutList(): OptOutList {
  return optOutListStore(messages());
}
