/*
 * Three countries have numbers that people, and the platform, write in two ways for one subscriber (platform reference, 4.1).
 * Their national numbers are the same but for a digit that says that the line is mobile:
 *
 *   Mexico     521 and ten digits    52 and ten digits     the 1 fell away in 2019
 *   Argentina  549 and ten digits    54 and ten digits     a national number is either mobile or fixed
 *   Brazil     55, area, 9 and eight 55, area and eight    of those that begin with 6 to 9, which got the 9 in 2012 to 2016
 *
 * Brazilian numbers whose eight digits begin with 2 to 5 are left alone: without the 9 they are fixed lines of other people.
 */
const mobileDigits = [
  { form: /^521(\d{10})$/, plain: '52$1', plainForm: /^52(\d{10})$/, mobile: '521$1' },
  { form: /^549(\d{10})$/, plain: '54$1', plainForm: /^54(\d{10})$/, mobile: '549$1' },
  {
    form: /^55([1-9]{2})9([6-9]\d{7})$/,
    plain: '55$1$2',
    plainForm: /^55(?<area>[1-9]{2})(?<line>[6-9]\d{7})$/,
    mobile: '55$<area>9$<line>',
  },
] as const;

/**
 * One spelling for all that a subscriber's number is written in; any other recipient as it is, without a plus. People are named by
 * it, so it never changes: under another spelling no stop would be found any more (person-key.ts).
 */
export function oneSpelling(recipient: string): string {
  const digits = recipient.replace(/^\+/, '');
  const rule = mobileDigits.find(({ form }) => form.test(digits));
  return rule === undefined ? digits : digits.replace(rule.form, rule.plain);
}

/** Every spelling that `oneSpelling` takes for this one, itself among them: where numbers are searched as they were written. */
export function spellingsOf(recipient: string): string[] {
  const plain = oneSpelling(recipient);
  const rule = mobileDigits.find(({ plainForm }) => plainForm.test(plain));
  return rule === undefined ? [plain] : [plain, plain.replace(rule.plainForm, rule.mobile)];
}
