/*
 * The platform's prices are display strings of unknown locale (`$9.99`, `9,99 €`, `R$ 1.234,56`, `¥1,200`). Only
 * unambiguous amounts are read.
 */

const longestDisplayCharacters = 60;
/** Letters and signs around the amount are short (`R$`, `soʻm`, `F CFA`, `د.إ.`), no sentence. */
const longestSymbolCharacters = 10;

const currencyCodes: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));

/**
 * Returns a displayed price as decimal text, with its decimals unchanged (D31): `R$ 1.234,50` is `1234.50`. Returns
 * undefined for words, ranges, minus signs, another currency's code, too many decimals, or an ambiguous separator
 * before three digits.
 */
export function decimalPrice(display: string, currency: string | undefined): string | undefined {
  if (display.length > longestDisplayCharacters) return undefined;
  const text = westernDigits(display.replace(/\p{Cf}/gu, ''));
  const found = /^(\D*?)(\d(?:.*\d)?)(\D*)$/u.exec(text);
  if (found === null) return undefined;
  const [, before = '', amount = '', after = ''] = found;
  const symbolAfter = after.replace(/^[.,][-–—]/u, '');
  if (!isSymbol(before, currency) || !isSymbol(symbolAfter, currency) || /^[.,]/.test(symbolAfter)) return undefined;
  // `$.99` may be a fraction, and `S/.99` no fraction.
  if (/(?:^|[^\p{L}\p{M}])[.,]$/u.test(before) || before.trim() === `${currency}.`) return undefined;
  return readAmount(amount, decimalsOf(currency));
}

function isSymbol(text: string, currency: string | undefined): boolean {
  const symbol = text.trim();
  if (symbol.length > longestSymbolCharacters || !/^[\p{L}\p{M}\p{Sc}\s./'’]*$/u.test(symbol)) return false;
  const codes = symbol.match(/(?<!\p{L})[A-Z]{3}(?!\p{L})/gu) ?? [];
  return codes.every((code) => code === currency || !currencyCodes.has(code));
}

function decimalsOf(currency: string | undefined): number | undefined {
  if (currency === undefined || !currencyCodes.has(currency)) return undefined;
  return new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits;
}

/** Spells digits of every script as 0 to 9. Unicode keeps them in runs of ten, from zero upwards. */
function westernDigits(text: string): string {
  return text.replace(/\p{Nd}/gu, (digit) => {
    const codePoint = digit.codePointAt(0) ?? 0;
    let first = codePoint;
    while (/\p{Nd}/u.test(String.fromCodePoint(first - 1))) first -= 1;
    return String((codePoint - first) % 10);
  });
}

/** Reads from the first digit to the last one. */
function readAmount(amount: string, decimals: number | undefined): string | undefined {
  const marks = amount.match(/\D/gu) ?? [];
  const last = marks.at(-1);
  if (last === undefined) return wholeNumber(amount, undefined);
  if (!marks.every((mark) => /[.,٫٬'’\s]/u.test(mark))) return undefined;
  const fraction = amount.slice(amount.lastIndexOf(last) + 1);
  const whole = amount.slice(0, amount.lastIndexOf(last));
  const grouping = new Set(marks.slice(0, -1));
  if (grouping.size > 1) return undefined;

  const parts = partsOf(last, { grouping, fraction, decimals });
  if (parts === undefined) return undefined;
  if (!parts) return wholeNumber(amount, last);
  const mostDecimals = Math.max(decimals ?? 0, 2);
  const integer = wholeNumber(whole, [...grouping][0]);
  return integer === undefined || fraction.length > mostDecimals ? undefined : `${integer}.${fraction}`;
}

/** Tells whether the last separator starts decimals; returns undefined when that is ambiguous. */
function partsOf(
  last: string,
  amount: { readonly grouping: ReadonlySet<string>; readonly fraction: string; readonly decimals: number | undefined },
): boolean | undefined {
  if (last === '٫') return true;
  if (last !== '.' && last !== ',') return false;
  if (amount.grouping.has(last)) return false;
  if (amount.grouping.size > 0 || amount.fraction.length !== 3) return true;
  if (amount.decimals === undefined || amount.decimals > 3) return undefined;
  return amount.decimals === 3;
}

/** Returns digits in groups of three, or of two before the last three (India), or undefined for any other grouping. */
function wholeNumber(text: string, separator: string | undefined): string | undefined {
  const groups = separator === undefined ? [text] : text.split(separator);
  const digits = groups.join('');
  if (!/^(?:0|[1-9]\d{0,20})$/.test(digits)) return undefined;
  if (groups.length === 1) return digits;
  const sizes = groups.map((group) => group.length).join(' ');
  return /^[1-3](?: 3)+$/.test(sizes) || /^[12](?: 2)+ 3$/.test(sizes) ? digits : undefined;
}
