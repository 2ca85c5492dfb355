/**
 * In these countries a subscriber's number has two spellings, with or without a digit for mobile lines (platform
 * reference, 4.1). Mexico dropped its 1 in 2019; an Argentine number is either mobile or fixed.
 */
const mobileDigits = [
  { form: /^521(\d{10})$/, plain: '52$1', plainForm: /^52(\d{10})$/, mobile: '521$1' },
  { form: /^549(\d{10})$/, plain: '54$1', plainForm: /^54(\d{10})$/, mobile: '549$1' },
  {
    /**
     * Brazil added the 9 from 2012 to 2016. Eight digits that begin with 2 to 5 stay, because without the 9 they are
     * fixed lines of other people.
     */
    form: /^55([1-9]{2})9([6-9]\d{7})$/,
    plain: '55$1$2',
    plainForm: /^55(?<area>[1-9]{2})(?<line>[6-9]\d{7})$/,
    mobile: '55$<area>9$<line>',
  },
] as const;

/** Other recipients only lose a plus. It never changes, because people's names derive from it (person-key.ts). */
export function canonicalNumber(recipient: string): string {
  const digits = recipient.replace(/^\+/, '');
  const rule = mobileDigits.find(({ form }) => form.test(digits));
  return rule === undefined ? digits : digits.replace(rule.form, rule.plain);
}

/** Returns all spellings that `canonicalNumber` unites with this one, for searches of numbers as they were written. */
export function numberSpellings(recipient: string): string[] {
  const plain = canonicalNumber(recipient);
  const rule = mobileDigits.find(({ plainForm }) => plainForm.test(plain));
  return rule === undefined ? [plain] : [plain, plain.replace(rule.plainForm, rule.mobile)];
}

/** Returns which spelling of its person a recipient is, as a number without the person: see `spelledAs`. */
export function spellingOf(recipient: string): number {
  const at = Math.max(0, numberSpellings(recipient).indexOf(recipient.replace(/^\+/, '')));
  return 2 * at + Number(recipient.startsWith('+'));
}

/** Returns a recipient in the spelling that `spellingOf` has told. */
export function spelledAs(recipient: string, spelling: number): string {
  const digits = numberSpellings(recipient)[spelling >> 1] ?? recipient;
  return spelling % 2 === 1 ? `+${digits}` : digits;
}
