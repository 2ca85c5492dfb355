/** Whether a text has every word of a search, and none of those that follow a `!`. */
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
