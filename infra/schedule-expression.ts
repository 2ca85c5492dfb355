interface CronField {
  readonly from: number;
  readonly to: number;
  /** The names stand for numbers, starting with `from`. */
  readonly names?: readonly string[];
  /** The field accepts these tokens beside numbers, ranges, lists and steps. */
  readonly also?: RegExp;
}

const months = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const weekdays = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];

const minutes: CronField = { from: 0, to: 59 };
const hours: CronField = { from: 0, to: 23 };
/** `L` is the last day, `15W` the working day nearest to the 15th. */
const daysOfMonth: CronField = { from: 1, to: 31, also: /^(?:L|LW|(?:[1-9]|[12]\d|3[01])W)$/ };
const monthsOfYear: CronField = { from: 1, to: 12, names: months };
/** `6L` is the last Friday of the month, `6#3` the third. */
const daysOfWeek: CronField = { from: 1, to: 7, names: weekdays, also: /^(?:L|[1-7]L|[1-7]#[1-5])$/ };
const years: CronField = { from: 1970, to: 2199 };

/**
 * Tells whether EventBridge Scheduler accepts the text as a recurring schedule: `rate(...)` with a unit that agrees
 * with its number, or `cron(...)` with six fields and `?` in exactly one of day of month and day of week.
 */
export function isScheduleExpression(text: string): boolean {
  const [, kind, inside = ''] = /^(rate|cron)\((.*)\)$/.exec(text) ?? [];
  if (kind === 'rate') return isRate(inside);
  return kind === 'cron' && isCron(inside);
}

function isRate(text: string): boolean {
  return /^(?:1 (?:minute|hour|day)|(?:[2-9]|[1-9]\d{1,3}) (?:minutes|hours|days))$/.test(text);
}

function isCron(text: string): boolean {
  const [minute = '', hour = '', dayOfMonth = '', month = '', dayOfWeek = '', year = '', ...more] = text.split(' ');
  if (more.length > 0 || (dayOfMonth === '?') === (dayOfWeek === '?')) return false;
  const day = dayOfWeek === '?' ? ([dayOfMonth, daysOfMonth] as const) : ([dayOfWeek, daysOfWeek] as const);
  const fields = [[minute, minutes], [hour, hours], day, [month, monthsOfYear], [year, years]] as const;
  return fields.every(([given, field]) => given.split(',').every((part) => isPart(part, field)));
}

/** A part between commas is `*`, `7` or `MON-FRI`, each with an optional step, or one of the field's own tokens. */
function isPart(part: string, field: CronField): boolean {
  if (field.also?.test(part)) return true;
  const [range = '', step, ...more] = part.split('/');
  if (more.length > 0) return false;
  if (step !== undefined && !(/^\d{1,4}$/.test(step) && Number(step) >= 1 && Number(step) <= field.to)) return false;
  if (range === '*') return true;
  const [first, last] = range.split('-').map((end) => numberOf(end, field));
  if (first === undefined || range.split('-').length > 2) return false;
  return range.includes('-') ? last !== undefined && first <= last : true;
}

function numberOf(text: string, { from, to, names = [] }: CronField): number | undefined {
  const named = names.indexOf(text);
  if (named >= 0) return from + named;
  if (!/^\d{1,4}$/.test(text)) return undefined;
  const value = Number(text);
  return value >= from && value <= to ? value : undefined;
}
