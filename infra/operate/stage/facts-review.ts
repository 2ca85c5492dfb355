import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Finding } from './findings.ts';

/** A fact about the platform is trusted for this time after it was seen. */
const goodForMonths = 18;

/** The oldest fact was seen in one month; all are due for a review in the other: `2025-10`, `2027-04`. */
export interface FactsReview {
  readonly oldest: string;
  readonly due: string;
}

/** A section has its month, or a fact its own mark, which may name several sources. */
const seenPattern = /^\*Seen (\d{4}-\d{2})\.\*$|\*\(([^)]*\bdoc \d{4}-\d{2}[^)]*)\)\*/gm;
const monthPattern = /\bdoc (\d{4}-\d{2})/g;

/** Reads the dates in FACTS.md, also those in its explanation of marks. Throws when there are none. */
export function reviewOf(text: string): FactsReview {
  const months = [...text.matchAll(seenPattern)].flatMap(([, section, mark = '']) =>
    section === undefined ? [...mark.matchAll(monthPattern)].map(([, month = '']) => month) : [section],
  );
  const [oldest] = months.toSorted();
  if (oldest === undefined) throw new Error('FACTS.md has no dates');
  const [year = 0, month = 0] = oldest.split('-').map(Number);
  return { oldest, due: new Date(Date.UTC(year, month - 1 + goodForMonths)).toISOString().slice(0, 7) };
}

export function reviewFinding({ oldest, due }: FactsReview, nowMs: number): Finding {
  const text = `facts about the platform: the oldest was seen in ${oldest}, so their review is due in ${due}`;
  const isDue = new Date(nowMs).toISOString().slice(0, 7) >= due;
  return isDue
    ? { state: 'bad', text: `${text}; look again what lib/platform/FACTS.md says` }
    : { state: 'good', text };
}

export function factsReview(): FactsReview {
  return reviewOf(readFileSync(join(import.meta.dirname, '../../../lib/platform/FACTS.md'), 'utf8'));
}
