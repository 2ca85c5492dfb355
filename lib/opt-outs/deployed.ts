import { documents, environmentVariable, secretValue } from '../aws/deployed.ts';
import { storePause } from '../aws/pause.ts';
import type { OptOutList } from './opt-out-list.ts';
import { optOutListStore } from './opt-out-list-store.ts';
import { type OptOutLook, optOutLook, optOutWriter } from './opt-out-store.ts';
import { personKey } from './person-key.ts';
import { type NameOf, personNames } from './person-name.ts';
import type { OptOutPorts } from './record-word.ts';
import { stopWords, type WordList } from './stop-words.ts';

/** It never changes, and a container outlives no day. */
const keyKeptSeconds = 86_400;

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

/** The words that end marketing and begin it again, as they are now. */
export function deployedWordList(): () => Promise<WordList> {
  return async () => stopWords;
}

/** The lists of clients; without the key. */
export function deployedOptOutList(): OptOutList {
  return optOutListStore(messages());
}
