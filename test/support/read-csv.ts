/** Reads the cells of CSV, line by line, by RFC 4180 (2.1 to 2.7), independently of the service's writer. */
export function readCsv(text: string): string[][] {
  const lines: string[][] = [];
  let line: string[] = [];
  for (let at = 0; at < text.length; ) {
    const [cell, end] = text[at] === '"' ? quoted(text, at) : plain(text, at);
    line.push(cell);
    if (text[end] === ',') {
      at = end + 1;
      // A comma at the end of the text starts one more empty cell.
      if (at === text.length) line.push('');
    } else {
      if (text.slice(end, end + 2) !== '\r\n') throw new Error(`a line that does not end with CRLF, at ${end}`);
      lines.push(line);
      line = [];
      at = end + 2;
    }
  }
  if (line.length > 0) throw new Error('the last line has no end');
  return lines;
}

function plain(text: string, from: number): [string, number] {
  const end = from + text.slice(from).search(/[,\r\n]/);
  const cell = text.slice(from, end);
  if (cell.includes('"')) throw new Error(`a quote in a cell that is not quoted, at ${from}`);
  return [cell, end];
}

function quoted(text: string, from: number): [string, number] {
  let cell = '';
  for (let at = from + 1; at < text.length; at += 1) {
    if (text[at] !== '"') cell += text[at];
    else if (text[at + 1] === '"') {
      cell += '"';
      at += 1;
    } else return [cell, at + 1];
  }
  throw new Error(`a quote that is not ended, at ${from}`);
}
