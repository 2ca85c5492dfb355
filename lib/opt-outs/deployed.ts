import { documents, environmentVariable, secretValue } from '../aws/deployed.ts';
import { storePause } from '../aws/pause.ts';
import { cachedFor } from '../aws/secrets.ts';
import type { OptOutList } from './opt-out-list.ts';
import { optOutListStore } from './opt-out-list-store.ts';
import { type OptOutLook, optOutLook, optOutWriter } from './opt-out-store.ts';
import { personKey } from './person-key.ts';
import { type NameOf, personNames } from './person-name.ts';
import type { OptOutPorts } from './record-opt-out.ts';
import { stopWordListReader } from './stop-word-list-store.ts';
import type { StopWordList } from './stop-words.ts';

/** The key never changes, and a container lives less than a day. */
const keyKeptSeconds = 86_400;

/** After a provisioning, old stop words may count for this long. */
const wordsKeptMs = 60_000;

/** Names people. It reads the key with the first name, so that a worker without opt-outs never reads it. */
function deployedPersonNames(): () => Promise<NameOf> {
  return secretValue('PERSON_KEY_SECRET', keyKeptSeconds, (text) => personNames(personKey(text)));
}

function messages() {
  return { client: documents(), name: environmentVariable('MESSAGES_TABLE'), pause: storePause };
}

export function deployedOptOutWriter(): () => Promise<OptOutPorts> {
  const names = deployedPersonNames();
  return async () => optOutWriter(messages(), await names());
}

/** Looks up before a call; it reads the key with the first person. */
export function deployedOptOutLook(): OptOutLook {
  return optOutLook(messages(), deployedPersonNames());
}

/** Reads the stop and start words of provisioning, a minute old at most. A failed read is not cached. */
export function deployedStopWords(): () => Promise<StopWordList> {
  return cachedFor(wordsKeptMs, Date.now, stopWordListReader(documents(), environmentVariable('DIRECTORY_TABLE')));
}

export function deployedOptOutList(): OptOutList {
  return optOutListStore(messages());
}
