import { expect, test } from 'vitest';
import list from '../../infra/operate/list-prices.json' with { type: 'json' };
import { standingText } from '../bench/cost/month.ts';
import { monthDollars, standingDollars, standingNames, standingOf } from '../bench/cost/standing.ts';
import { itemBytes } from '../bench/cost/stored.ts';
import { volumeDollars, volumeOf } from '../bench/cost/volume.ts';
import { documentOf, sectionsOf } from '../support/documents.ts';
import type { SettingChoice } from '../support/setting-choices.ts';
import { stacksOf } from '../support/stack-templates.ts';

const section = sectionsOf(documentOf('infra/operate/COST.md')).get('A month') ?? '';

/** `npm run cost -- --standing` prints these figures. */
const printed = standingText();
const printedOf = (name: string) =>
  printed
    .split('\n')
    .find((line) => line.trim().startsWith(`${name}  `))
    ?.trim()
    .slice(name.length)
    .trim()
    .split(/ +/);

test('the month in which nothing happens is what the templates have times the prices; the program prints each, the book the sum', () => {
  const { stateful, stateless } = stacksOf('plain');
  const counts = standingOf([...stateful, ...stateless]);
  const dollars = standingDollars(counts);
  for (const name of standingNames.filter((each) => counts[each] > 0)) {
    const figures = [counts[name].toLocaleString('en-US'), dollars[name].toFixed(2)];
    expect(printedOf(list.standing[name].what)).toEqual(figures);
  }
  const sum = monthDollars(counts).toFixed(2);
  expect(printedOf('together')).toEqual([sum]);
  expect(section).toContain(`a month costs $${sum}`);
});

test('the cost of its alarms is documented too', () => {
  const { stateful, stateless } = stacksOf('plain');
  const all = [...stateful, ...stateless];
  const { alarmMetrics, compositeAlarms } = standingOf(all);
  const dollars = standingDollars(standingOf(all));
  const alarms = all.filter(({ type }) => type === 'AWS::CloudWatch::Alarm').length;
  const said = (sectionsOf(documentOf('infra/operate/README.md')).get('Alarms') ?? '').replaceAll(/\s+/g, ' ');
  expect(said).toContain(
    `${alarms} alarms on ${alarmMetrics} metrics and ${compositeAlarms} composite ones, some $${Math.round(dollars.alarmMetrics + dollars.compositeAlarms)} a month`,
  );
});

test('what a setting adds to it is the difference of the templates', () => {
  const dollarsOf = (name: string) => Number(printedOf(name)?.[0]);

  // No other setting adds cost: all of them together cost the sum of the table.
  const monthOf = (choice: SettingChoice) => {
    const { stateful, stateless, edge } = stacksOf(choice);
    return monthDollars(standingOf([...stateful, ...stateless, ...edge]));
  };
  const added = (...names: readonly string[]) => names.reduce((sum, name) => sum + dollarsOf(name), 0);
  const plain = monthOf('plain');
  expect(monthOf('whole') - plain).toBeCloseTo(added('edge', 'hostedZoneId', 'syncSchedule', 'rateSourceUrl'));
  const chosen = ['edge', 'edgeKeyVersion=2', 'hostedZoneId', 'encryptionKeyArn', 'canary=false', 'syncSchedule'];
  expect(monthOf('chosen') - plain).toBeCloseTo(added(...chosen));
});

test('an expression of metrics is billed by its metrics, a copied secret twice, a key and a zone once', () => {
  const { stateful, stateless, edge } = stacksOf('chosen');
  const counts = standingOf([...stateful, ...stateless, ...edge]);
  expect(counts).toMatchObject({ keys: 1, hostedZones: 1, webAcls: 1 });
  const alarm = (properties: object) => ({ type: 'AWS::CloudWatch::Alarm', properties });
  const secret = (properties: object) => ({ type: 'AWS::SecretsManager::Secret', properties });
  const some = [
    alarm({ MetricName: 'Errors' }),
    alarm({ Metrics: [{ Expression: 'a / b' }, { MetricStat: {} }, { MetricStat: {} }] }),
    secret({}),
    secret({ ReplicaRegions: [{ Region: 'us-east-1' }] }),
  ];
  expect(standingOf(some)).toMatchObject({ alarmMetrics: 3, secrets: 3, keys: 0, hostedZones: 0 });
});

test('what a message leaves is billed for the month that it is there, its log for as long as logs are kept', () => {
  const left = { storedBytes: 1_000, logBytes: 1_000, sentBytes: 1_000 };
  const of = (logRetentionDays: number) => volumeOf(left, { messages: 1_000_000, logRetentionDays });
  expect(of(30)).toEqual({ storedGb: 1, backedUpGb: 1, storedLogGb: 0.15, sentGb: 1 });
  expect(of(90).storedLogGb).toBeCloseTo(0.45);
  const { storedGb, backedUpGb, sentGb } = list.volume;
  expect(volumeDollars(of(30))).toMatchObject({
    storedGb: storedGb.dollars,
    backedUpGb: backedUpGb.dollars,
    sentGb: sentGb.dollars,
  });
});

test('the room of an item is that of its names and values', () => {
  expect(itemBytes({ pk: 'AB', sk: 'é' })).toBe(8);
  expect(itemBytes({ n: 12345, yes: true, bytes: new Uint8Array(10) })).toBe(5 + 4 + 15);
  expect(itemBytes({ l: ['a', 'b'], m: { k: 'v' } })).toBe(1 + 3 + 4 + 1 + 3 + 1 + 2);
});
