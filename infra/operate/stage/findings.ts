/** A finding is a check's result for a terminal: one line with ✓, ✗ or –, and what to do. */
export interface Finding {
  /** `skipped` means that it cannot be checked here, which is no fault. */
  readonly state: 'good' | 'bad' | 'skipped';
  readonly text: string;
}

/** A paste into a ticket has this width too. */
export const widthColumns = 100;

const marks = { good: '✓', bad: '✗', skipped: '–' } as const;

/** Writes a finding as lines of at most `widthColumns`, indented from the second on. */
export function findingLines({ state, text }: Finding): string {
  const lines: string[] = [];
  let line: string = marks[state];
  for (const word of text.split(/\s+/).flatMap(inPieces)) {
    if (line.length + 1 + word.length > widthColumns) {
      lines.push(line);
      line = ' ';
    }
    line = `${line} ${word}`;
  }
  return [...lines, line].join('\n');
}

function inPieces(word: string): string[] {
  const longest = widthColumns - 2;
  return Array.from({ length: Math.ceil(word.length / longest) }, (_, at) =>
    word.slice(at * longest, (at + 1) * longest),
  );
}

/** Returns the count that closes a list: `12 good, 1 bad, 2 skipped`. */
export function closingCount(findings: readonly Finding[]): string {
  const count = (state: Finding['state']) => findings.filter((finding) => finding.state === state).length;
  const skipped = count('skipped');
  return `${count('good')} good, ${count('bad')} bad${skipped === 0 ? '' : `, ${skipped} skipped`}`;
}
