import { useEffect } from 'preact/hooks';
import { control } from './api.ts';
import { createStore, useStore } from './store.ts';

/* The meaning and the remedy of a code are in the words of `infra/ops explain`. */

export interface CodeWords {
  readonly code: string;
  readonly where: string;
  readonly title: string;
  readonly cause: string;
  readonly remedy: string;
}

/**
 * The cache's keys are codes; an empty list means that nothing is known. The words do not change while the page is
 * open.
 */
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

/** Returns undefined until the words are read, and for an unknown code. */
export function useCodeWords(code: string): CodeWords | undefined {
  useEffect(() => {
    if (code !== '') void read(code);
  }, [code]);
  const words = useStore(known).get(code);
  // The platform's meaning wins where the service uses the same code.
  return words?.find(({ where }) => where.startsWith('a code of the platform')) ?? words?.[0];
}

/** Returns title and code for a single line: `Message Undeliverable (131026)`. */
export function useCodeTitle(code: string): string {
  const title = useCodeWords(code)?.title;
  return title === undefined ? code : `${title} (${code})`;
}

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
