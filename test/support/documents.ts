import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/** Returns the text of a document; its path starts at the project's folder. */
export function documentOf(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** Returns the sections of a document: the text below each heading, up to the next heading of any level. */
export function sectionsOf(markdown: string): ReadonlyMap<string, string> {
  const sections = new Map<string, string>();
  let heading: string | undefined;
  let fenced = false;
  for (const line of markdown.split('\n')) {
    if (line.trimStart().startsWith('```')) fenced = !fenced;
    const found = fenced ? undefined : /^#{1,6} (.+)$/.exec(line)?.[1];
    if (found !== undefined) {
      if (sections.has(found)) throw new Error(`two headings say ${found}`);
      heading = found;
      sections.set(found, '');
    } else if (heading !== undefined) {
      sections.set(heading, `${sections.get(heading) ?? ''}${line}\n`);
    }
  }
  return sections;
}

/** Returns the rows of the Markdown table whose heading starts so, as cells. */
export function tableRows(markdown: string, heading: string): string[][] {
  const lines = markdown.split('\n');
  const start = lines.findIndex((line) => line.startsWith(heading));
  if (start === -1) throw new Error(`there is no table with the heading ${heading}`);
  const end = lines.findIndex((line, at) => at > start && !line.startsWith('|'));
  return lines.slice(start + 2, end === -1 ? undefined : end).map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('\\|', '|')),
  );
}

/** Returns the texts in backticks of a cell. */
export function namesIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
}
