/** Matches texts that have all words and none that follow a `!`. */
export function searched(query: string): (text: string) => boolean {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '' && word !== '!');
  return (text) => {
    const lower = text.toLowerCase();
    return words.every((word) => (word.startsWith('!') ? !lower.includes(word.slice(1)) : lower.includes(word)));
  };
}
