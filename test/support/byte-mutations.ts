/** Returns numbers from 0 to below `limit`, the same in every run. */
function seededNumbers(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

// Bytes with a meaning for a form parser come more often than by chance.
const telling = Buffer.from('\r\n-;="\\:\0');

/** Damages copies of a form, the same for each seed: changed bytes, then cuts, removals or repetitions. */
export function* byteMutations(whole: Buffer, seed: number, count: number): Generator<Buffer> {
  const below = seededNumbers(seed);
  for (let left = count; left > 0; left -= 1) {
    const body = Buffer.from(whole);
    for (let edits = 1 + below(4); edits > 0; edits -= 1) {
      body[below(body.byteLength)] = below(2) === 0 ? below(256) : (telling[below(telling.byteLength)] ?? 0);
    }
    const from = below(body.byteLength);
    const to = from + below(body.byteLength - from);
    const kinds = [
      () => body,
      () => body.subarray(0, from),
      () => Buffer.concat([body.subarray(0, from), body.subarray(to)]),
      () => Buffer.concat([body.subarray(0, to), body.subarray(from)]),
    ];
    yield kinds[below(kinds.length)]?.() ?? body;
  }
}
