import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decimalPrice } from '../../../lib/catalog/price.ts';
import { thorough } from '../../support/thorough.ts';

// What a locale displays is below; here is what else shops write.
describe('displayed prices that mean one amount', () => {
  test.each([
    ['US$9.99', 'USD', '9.99'],
    ['USD 9.99', 'USD', '9.99'],
    ['9.99 USD', 'USD', '9.99'],
    ['9.99', 'USD', '9.99'],
    ['$0', 'USD', '0'],
    ['$10', 'USD', '10'],
    ['$9.9', 'USD', '9.9'],
    ['$1,234', 'USD', '1234'],
    ['$1234.50', 'USD', '1234.50'],
    ['9,99 €', 'EUR', '9.99'],
    ['€ 1.234,56', 'EUR', '1234.56'],
    ['1.234 €', 'EUR', '1234'],
    ['1.234.567 €', 'EUR', '1234567'],
    ['R$ 1.234,56', 'BRL', '1234.56'],
    ['¥1,200', 'JPY', '1200'],
    ['¥1.200', 'JPY', '1200'],
    ['1.200円', 'JPY', '1200'],
    ['1 234,50 zł', 'PLN', '1234.50'],
    ['₹12,34,567', 'INR', '1234567'],
    ['Rs.1,234.00', 'INR', '1234.00'],
    ['Rs. 99', 'PKR', '99'],
    ["CHF 1'234.50", 'CHF', '1234.50'],
    ["CHF 1'234'567", 'CHF', '1234567'],
    ['CHF 100.–', 'CHF', '100'],
    ['kr 100,-', 'NOK', '100'],
    ['S/ 1,234.50', 'PEN', '1234.50'],
    ['1 234 F CFA', 'XOF', '1234'],
    ['1 234,50 soʻm', 'UZS', '1234.50'],
    ['Rp 1.234,50', 'IDR', '1234.50'],
    ['٣٫٢٥٠ د.ك.', 'KWD', '3.250'],
    ['\u200f١٬٢٣٤٫٥٠\u00a0ج.م.\u200f', 'EGP', '1234.50'],
    ['ریال ۱٬۲۳۴', 'IRR', '1234'],
    ['नेरू १,२३४.५०', 'NPR', '1234.50'],
    ['$𝟡.𝟡𝟡', 'USD', '9.99'],
    ['KWD 1.234', 'KWD', '1.234'],
    ['1,234 د.ت', 'TND', '1.234'],
    ['KWD 1,234.500', 'KWD', '1234.500'],
    ['KWD 1.5', 'KWD', '1.5'],
    ['IQD 1.250', 'IQD', '1250'],
    ['9.99', undefined, '9.99'],
    ['1,234.50', undefined, '1234.50'],
    ['12', 'not a code', '12'],
  ])('%s in %s is %s', (display, currency, decimal) => {
    expect(decimalPrice(display, currency)).toBe(decimal);
  });
});

describe('displayed prices that are not read', () => {
  test.each([
    ['', 'USD'],
    ['Free', 'USD'],
    ['Price on request', 'USD'],
    ['-$9.99', 'USD'],
    ['$-9.99', 'USD'],
    ['$9.99-', 'USD'],
    ['−9,99 €', 'EUR'],
    ['($9.99)', 'USD'],
    ['$9.99 - $12.99', 'USD'],
    ['$9.99/2 pieces', 'USD'],
    ['from about $9.99', 'USD'],
    ['9.99 EUR', 'USD'],
    ['USD 9.99', 'EUR'],
    ['$.99', 'USD'],
    ['S/.99', 'PEN'],
    ['USD.99', 'USD'],
    ['$9.', 'USD'],
    ['9⁹⁹ €', 'EUR'],
    ['½ €', 'EUR'],
    ['1e3', 'USD'],
    ['$1.2345', 'USD'],
    ['$1,234.567', 'USD'],
    ['1.234,567 €', 'EUR'],
    ['$0.567', 'USD'],
    ['$0,567', 'USD'],
    ['$1234,567', 'USD'],
    ['$12,34.50', 'USD'],
    ['$1,2345.00', 'USD'],
    ['$1,,234', 'USD'],
    ['$1.234.56', 'USD'],
    ["$1,234'567.00", 'USD'],
    ['$1 234.567,00', 'USD'],
    ['007.50', 'USD'],
    ['1,234', undefined],
    ['1.234', 'ABC'],
    ['CLF 1.234', 'CLF'],
    ['Infinity', 'USD'],
    ['%9.99', 'USD'],
    ['<b>9.99</b>', 'USD'],
    [`$${'9'.repeat(25)}`, 'USD'],
    [`$9.99${' '.repeat(100)}`, 'USD'],
  ])('%s in %s', (display, currency) => {
    expect(decimalPrice(display, currency)).toBeUndefined();
  });
});

const locales =
  'en-US en-IN de-DE de-CH fr-FR fr-CH es-ES es-CL es-MX pt-BR it-IT pl-PL ru-RU tr-TR ja-JP ko-KR zh-CN th-TH hi-IN ar-EG ' +
  'ar-KW he-IL fa-IR da-DK';
const currencies = 'USD EUR BRL JPY KRW CLP PLN INR CHF KWD TND MXN GBP DKK HUF'.split(' ');
const amount = fc.integer({ min: 0, max: 999_999_999 });

/** Returns what the runtime's Intl displays for an amount in the smallest unit. */
function displayed(locale: string, currency: string, minor: number) {
  const format = new Intl.NumberFormat(locale, { style: 'currency', currency });
  const decimals = format.resolvedOptions().maximumFractionDigits ?? 0;
  const digits = String(minor).padStart(decimals + 1, '0');
  const decimal = decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
  return { display: format.format(decimal as Intl.StringNumericLiteral), decimal };
}

test('whatever a locale displays is read back', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...locales.split(' ')),
      fc.constantFrom(...currencies),
      amount,
      (locale, currency, minor) => {
        const { display, decimal } = displayed(locale, currency, minor);
        expect([display, decimalPrice(display, currency)]).toEqual([display, decimal]);
      },
    ),
    { numRuns: thorough ? 2_000 : 400 },
  );
});

test('no currency of the world in any of the locales is read as another amount', () => {
  const all = Intl.supportedValuesOf('currency');
  const everyLocale = `${locales} pt-CV my-MM ne-NP bg-BG uz-UZ sv-SE nb-NO ckb-IQ mr-IN sw-KE`.split(' ');
  fc.assert(
    fc.property(fc.constantFrom(...everyLocale), fc.constantFrom(...all), amount, (locale, currency, minor) => {
      const { display, decimal } = displayed(locale, currency, minor);
      expect([undefined, decimal]).toContain(decimalPrice(display, currency));
    }),
    { numRuns: thorough ? 3_000 : 600 },
  );
});

test('any text is read as decimal text or not at all, and the same at any price', () => {
  const piece = fc.constantFrom(..."1_23_456_._,_'_ _\u00a0_٬_٫_٣_$_€_kr_-_USD_0".split('_'));
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 12 }),
      fc.constantFrom('USD', 'JPY', 'KWD', undefined),
      (pieces, currency) => {
        expect(decimalPrice(pieces.join(''), currency) ?? '0').toMatch(/^(?:0|[1-9]\d*)(?:\.\d{1,3})?$/);
      },
    ),
    { numRuns: thorough ? 5_000 : 1_000 },
  );
});
