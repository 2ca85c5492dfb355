import fc from 'fast-check';

/**
 * Any text of whole code points, with control characters and unassigned ones. The same as `unit: 'binary'` of
 * fast-check, which takes a second of processor time in every file that uses it once.
 */
export function anyText(bounds: fc.ArrayConstraints = {}): fc.Arbitrary<string> {
  const surrogates = { from: 0xd800, count: 0x800 };
  const whole = (number: number) => (number < surrogates.from ? number : number + surrogates.count);
  return fc
    .array(fc.nat(0x10ffff - surrogates.count), bounds)
    .map((numbers) => String.fromCodePoint(...numbers.map(whole)));
}
