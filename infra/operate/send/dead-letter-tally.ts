import type { Letter } from './dead-letter-queue.ts';
import type { JudgedLetter, LetterKind, LetterMessages } from './dead-letters.ts';

export interface Tallied {
  readonly letters: number;
  readonly kinds: ReadonlyMap<string, LetterKind & { readonly letters: number; readonly messages: number }>;
  readonly oldestMs: number | undefined;
  /** Each of these letters carries a message that another letter has carried, and is sent again. */
  readonly doubles: number;
}

/** Counts letters by kind, and each message of all of them once. */
export class Tally implements Tallied {
  letters = 0;
  doubles = 0;
  oldestMs: number | undefined;
  readonly kinds = new Map<string, LetterKind & { letters: number; messages: number }>();
  /** By dispatch, the indexes of messages that were counted. */
  readonly #counted = new Map<string, Set<number>>();

  add({ messages, ...kind }: JudgedLetter, { sentMs }: Letter): void {
    const known = this.kinds.get(kind.text) ?? { ...kind, letters: 0, messages: 0 };
    const fresh = messages === undefined ? 0 : this.#count(messages);
    known.letters += 1;
    known.messages += fresh;
    this.kinds.set(kind.text, known);
    this.letters += 1;
    if (kind.verdict === 'again' && fresh < (messages?.indexes.length ?? 0)) this.doubles += 1;
    if (sentMs !== undefined) this.oldestMs = Math.min(this.oldestMs ?? sentMs, sentMs);
  }

  /** Counts each message once; returns the number of new ones. */
  #count({ dispatchId, indexes }: LetterMessages): number {
    const counted = this.#counted.get(dispatchId) ?? new Set();
    const before = counted.size;
    for (const index of indexes) counted.add(index);
    this.#counted.set(dispatchId, counted);
    return counted.size - before;
  }
}

const doublesAreSafe =
  'carry messages of another one, as when a repeated request to the queue has doubled it; both may go: the claims let each message leave once';

/** Spells the counts for a terminal. With `drop` the command deletes what is of no use. */
export function linesOf({ kinds, oldestMs, doubles }: Tallied, { drop }: { readonly drop: boolean }): string[] {
  const words = { again: drop ? 'stays' : 'again', stays: 'stays', useless: drop ? 'drop' : 'no use' } as const;
  const rows = [...kinds.values()].map(({ verdict, text, letters, messages }) => {
    const count = messages === 0 ? `${letters}` : `${letters} with ${messages} messages`;
    return `${words[verdict].padEnd(6)}  ${count}: ${text}`;
  });
  return [
    ...(oldestMs === undefined ? [] : [`the oldest was queued ${new Date(oldestMs).toISOString()}`]),
    ...rows,
    ...(doubles === 0 ? [] : [`${doubles} of them ${doublesAreSafe}`]),
  ];
}

/** Programs read this. */
export function asJson(
  { letters, kinds, oldestMs, doubles }: Tallied,
  { queue, waiting }: { readonly queue: string; readonly waiting: number },
) {
  return {
    ...{ queue, dead_letters: waiting, looked_at: letters, doubles },
    oldest: oldestMs === undefined ? undefined : new Date(oldestMs).toISOString(),
    kinds: [...kinds.values()].map(({ verdict, text, letters: count, messages }) => ({
      ...{ verdict, letters: count, messages, text },
    })),
  };
}
