import type { CommandWords } from './command.ts';

const widthColumns = 80;
const mostOfName = 24;

/** Returns the text of `--help`, at most 80 columns wide. */
export function helpOf({ lines, about, options }: CommandWords): string {
  const calls = lines.flatMap((line, at) => hanging(at === 0 ? 'usage: ' : '       ', `infra/ops ${line}`, 9));
  const names = Object.entries(options).map(([name, { value, short }]) => {
    const letter = short === undefined ? '' : `-${short}, `;
    return `${letter}--${name}${value === undefined ? '' : ` ${value}`}`;
  });
  const texts = Object.values(options).map((option) => option.about);
  return [...calls, '', ...filled(about), '', ...defined(names, texts)].join('\n');
}

/** Returns names with their texts beside them, as a list of definitions. */
export function defined(names: readonly string[], texts: readonly string[]): string[] {
  const width = Math.max(...names.map((name) => name.length).filter((length) => length <= mostOfName));
  return names.flatMap((name, at) => {
    const start = `  ${name.padEnd(width)}  `;
    const text = texts[at] ?? '';
    if (name.length <= width) return hanging(start, text, width + 4);
    return [`  ${name}`, ...hanging(' '.repeat(width + 4), text, width + 4)];
  });
}

function filled(text: string): string[] {
  return text
    .trim()
    .split('\n\n')
    .flatMap((paragraph, at) => [
      ...(at === 0 ? [] : ['']),
      ...(/^ /.test(paragraph) ? paragraph.split('\n') : hanging('', paragraph, 0)),
    ]);
}

/** Fills lines with words; those after the first are indented. */
function hanging(start: string, text: string, indent: number): string[] {
  const lines: string[] = [];
  let line = start;
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const isBare = line.trim() === '' || line === start;
    const longer = isBare ? `${line}${word}` : `${line} ${word}`;
    if (longer.length <= widthColumns || isBare) line = longer;
    else {
      lines.push(line);
      line = `${' '.repeat(indent)}${word}`;
    }
  }
  return [...lines, line.trimEnd()];
}
