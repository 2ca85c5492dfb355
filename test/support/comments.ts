export interface Comment {
  /** The first line of the comment has this number. */
  readonly line: number;
  readonly text: string;
}

/** Returns the comments of a source that stand on lines of their own; `//` lines that follow each other are one. */
export function commentsOf(source: string): Comment[] {
  const comments: { line: number; text: string }[] = [];
  let open: 'block' | 'lines' | undefined;
  for (const [at, line] of source.split('\n').entries()) {
    const code = line.trim();
    const isBlock = open === 'block' || code.startsWith('/*');
    if (!isBlock && !code.startsWith('//')) {
      open = undefined;
      continue;
    }
    const text = code.replace(/^(?:\/\*+|\*(?!\/)|\/\/+)/, '').replace(/\*\/.*$/, '');
    const last = comments.at(-1);
    const isNew = open === undefined || (open === 'lines' && isBlock);
    if (isNew || last === undefined) comments.push({ line: at + 1, text });
    else last.text += ` ${text}`;
    open = isBlock ? (code.includes('*/') ? undefined : 'block') : 'lines';
  }
  return comments;
}
