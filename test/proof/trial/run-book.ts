import { documentOf, sectionsOf } from '../../support/documents.ts';

const runBook = 'infra/operate/README.md';
const logBook = 'infra/operate/LOGS.md';

/**
 * Returns a command of the run book's section, as it stands there: the one that equals `beginning`, else the first that
 * begins so. `--stage` is left out. A changed run book changes the game day, or breaks it.
 */
export function bookCommand(section: string, beginning: string): string {
  const text = sectionsOf(documentOf(runBook)).get(section);
  if (text === undefined) throw new Error(`the run book has no section "${section}"`);
  // A command may be broken over two lines of prose; blocks of another kind show what it prints.
  const spans = [...text.matchAll(/```(\w*)\n([\s\S]*?)```|`([^`]+)`/g)].flatMap(([, kind, block = '', span]) => {
    if (span !== undefined) return [span.replace(/\s+/g, ' ')];
    return kind === 'sh' ? block.trim().split('\n') : [];
  });
  const commands = spans.map((span) => /(?:npm run|infra\/ops) .*/.exec(span)?.[0] ?? '');
  const found =
    commands.find((command) => command === beginning) ?? commands.find((command) => command.startsWith(beginning));
  if (found === undefined) throw new Error(`the run book does not say \`${beginning} ...\` under "${section}"`);
  return found.replace(/ --stage \S+/, '').trim();
}

export function bookMeaning(event: string): string {
  const row = documentOf(logBook)
    .split('\n')
    .find((line) => line.startsWith('|') && line.split('|')[1]?.includes(`\`${event}\``));
  if (row === undefined) throw new Error(`the run book does not explain ${event}`);
  return row.split('|')[2]?.trim() ?? '';
}

/**
 * Returns the words of a command as a shell parts them; `'number 1 of waba 2'` is one. Nothing else of a shell is
 * understood.
 */
export function wordsOf(command: string): string[] {
  return [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}

/** Returns the commands of a section of RECOVERY.md, block by block, as they stand there. */
export function recoveryBlocks(section: string): string[] {
  const text = sectionsOf(documentOf('infra/RECOVERY.md')).get(section);
  const blocks = [...(text ?? '').matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block);
  if (blocks.length === 0) throw new Error(`RECOVERY.md has no commands under "${section}"`);
  return blocks;
}
