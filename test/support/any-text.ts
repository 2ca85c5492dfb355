import fc from 'fast-check';

/**
 * Generates any text of whole code points, with control characters and unassigned ones, as fast-check's `unit:
 * 'binary'` does. That takes a second of processor time in every file that uses it once.
 */
export function anyText(bounds: fc.ArrayConstraints = {}): fc.Arbitrary<string> {
  const surrogates = { from: 0xd800, count: 0x800 };
  const whole = (number: number) => (number < surrogates.from ? number : number + surrogates.count);
  return fc
    .array(fc.nat(0x10ffff - surrogates.count), bounds)
    .map((numbers) => String.fromCodePoint(...numbers.map(whole)));
}
