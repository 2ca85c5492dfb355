import { useEffect } from 'preact/hooks';
import { control } from './api.ts';
import { createStore, useStore } from './store.ts';

/*
 * What a code means and what helps, in the words of `npm run explain`.
 */

export interface CodeWords {
  readonly code: string;
  readonly where: string;
  readonly title: string;
  readonly cause: string;
  readonly remedy: string;
}

/** What is known of each code that was asked for; an empty list: nothing. They do not change while the page is open. */
const known = createStore<ReadonlyMap<string, readonly CodeWords[]>>(new Map());
const asked = new Set<string>();

async function read(code: string): Promise<void> {
  if (asked.has(code)) return;
  asked.add(code);
  try {
    const { data } = await control<{ readonly data: readonly CodeWords[] }>(
      `service/codes/${encodeURIComponent(code)}`,
    );
    known.set(new Map(known.get()).set(code, data));
  } catch {
    asked.delete(code);
  }
}

/** The words of a code as soon as they are read. Undefined while they are not, and for a code that has none. */
export function useCodeWords(code: string): CodeWords | undefined {
  useEffect(() => {
    if (code !== '') void read(code);
  }, [code]);
  const words = useStore(known).get(code);
  // A code of the platform is told as one, also where the service answers with the same word.
  return words?.find(({ where }) => where.startsWith('a code of the platform')) ?? words?.[0];
}

/** A code with its title, for where a line is all there is: `Message Undeliverable (131026)`. */
export function useCodeTitle(code: string): string {
  const title = useCodeWords(code)?.title;
  return title === undefined ? code : `${title} (${code})`;
}

/** The title of a code, why it is so, and what helps. */
export function Remedy({ code }: { readonly code: string }) {
  const words = useCodeWords(code);
  if (words === undefined) return null;
  return (
    <div class="remedy">
      <p>
        <strong>{words.title}.</strong> {words.cause}
      </p>
      <p>
        <strong>What helps:</strong> {words.remedy}
      </p>
    </div>
  );
}
