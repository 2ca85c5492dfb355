import { expect, it } from 'vitest';
import { isScheduleExpression } from '../../infra/schedule-expression.ts';

it.each([
  'rate(1 minute)',
  'rate(6 hours)',
  'rate(30 days)',
  'cron(0 3 * * ? *)',
  'cron(0/30 8-17 ? * MON-FRI *)',
  'cron(0 3,15 1 JAN,JUL ? 2026-2030)',
  'cron(*/10 * L * ? *)',
  'cron(0 9 15W * ? *)',
  'cron(0 9 LW * ? *)',
  'cron(0 9 ? * 6L *)',
  'cron(0 9 ? * 2#1 2199)',
])('%s is a schedule', (text) => {
  expect(isScheduleExpression(text)).toBe(true);
});

it.each([
  ['', 'nothing'],
  ['6 hours', 'no expression'],
  ['at(2026-12-01T00:00:00)', 'once, and never again'],
  ['rate(1 minutes)', 'a unit that does not agree'],
  ['rate(2 minute)', 'a unit that does not agree'],
  ['rate(0 hours)', 'no time'],
  ['rate(06 hours)', 'a leading zero'],
  ['rate(2 weeks)', 'no such unit'],
  ['rate(2  hours)', 'two spaces'],
  ['cron(0 3 * * * *)', 'days of the month and of the week'],
  ['cron(0 3 ? * ? *)', 'neither'],
  ['cron(0 3 1 * MON *)', 'both'],
  ['cron(0 3 * * ?)', 'five fields'],
  ['cron(0 3 * * ? * *)', 'seven fields'],
  ['cron(60 3 * * ? *)', 'no such minute'],
  ['cron(0 24 * * ? *)', 'no such hour'],
  ['cron(0 3 0 * ? *)', 'no such day'],
  ['cron(0 3 32 * ? *)', 'no such day'],
  ['cron(0 3 * 13 ? *)', 'no such month'],
  ['cron(0 3 * MAI ? *)', 'no such month'],
  ['cron(0 3 ? * 0 *)', 'weeks begin with 1, Sunday'],
  ['cron(0 3 ? * 8 *)', 'no such day of the week'],
  ['cron(0 3 ? * 2#6 *)', 'a sixth Monday'],
  ['cron(0 3 * * ? 1969)', 'no such year'],
  ['cron(0 17-8 * * ? *)', 'a range that goes back'],
  ['cron(0 8- * * ? *)', 'half a range'],
  ['cron(0 8-9-10 * * ? *)', 'a range of three'],
  ['cron(0/0 3 * * ? *)', 'a step of nothing'],
  ['cron(0/5/5 3 * * ? *)', 'two steps'],
  ['cron(0,, 3 * * ? *)', 'an empty part'],
  ['cron(? 3 * * ? *)', 'any minute'],
  ['cron(L 3 * * ? *)', 'a last minute'],
  [' cron(0 3 * * ? *)', 'a space before'],
])('%j is none: %s', (text) => {
  expect(isScheduleExpression(text)).toBe(false);
});
