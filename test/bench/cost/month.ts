import { RootConstruct } from 'constructs';
import list from '../../../infra/operate/list-prices.json' with { type: 'json' };
import { settingsFrom } from '../../../infra/settings.ts';
import { metricNames } from '../../../lib/observe/metrics.ts';
import { synthesize } from '../../support/synthesized.ts';
import * as assumed from './assumed.ts';
import {
  minutesOfMonth,
  monthDollars,
  type StandingCounts,
  standingDollars,
  standingNames,
  standingOf,
  standingOptions,
} from './standing.ts';
import { aligned, aMillion } from './table.ts';
import { type Left, type Volume, volumeDollars, volumeOf } from './volume.ts';

/** Returns what AWS bills for being there, in the templates that `npm run synth` writes with these settings. */
export function standingWith(context: Readonly<Record<string, unknown>>): StandingCounts {
  const { stateful, stateless, edge } = synthesize(context);
  return standingOf([...stateful, ...stateless, ...edge]);
}

/** Returns the dollars that each option adds to an idle month. */
function optionDollars(): ReadonlyMap<string, number> {
  const without = new Map<string, number>();
  const of = (context: Readonly<Record<string, unknown>>) => {
    const key = JSON.stringify(context);
    const known = without.get(key) ?? monthDollars(standingWith(context));
    without.set(key, known);
    return known;
  };
  return new Map(standingOptions.map(({ name, context, beside = {} }) => [name, of(context) - of(beside)]));
}

/** Shows what an idle month costs, and what each setting adds to it. */
export function standingText(): string {
  const counts = standingWith({});
  const dollars = standingDollars(counts);
  const rows = standingNames
    .filter((name) => counts[name] > 0)
    .map((name) => [list.standing[name].what, counts[name].toLocaleString('en-US'), dollars[name].toFixed(2)]);
  const table = [['', 'so many', '$ a month'], ...rows, ['together', '', monthDollars(counts).toFixed(2)]];
  const options = [...optionDollars()].map(([name, added]) => [name, added.toFixed(2)]);
  return [
    'A month in which nothing happens, without options',
    ...aligned(table),
    '',
    'What a setting adds to it (nothing: it costs by what it does)',
    ...aligned([['', '$ a month'], ...options]),
    '',
    `By use: custom metrics $0.30 each in hours in which they are written, ${metricNames.length} at most and one for each code of the platform;`,
    'metrics by route as much again for each that is called. KMS with a key of your own: a request for each function and',
    `service in ${assumed.dataKeyMinutes} minutes at most, ${(minutesOfMonth / assumed.dataKeyMinutes).toLocaleString('en-US')} a month or $${((minutesOfMonth / assumed.dataKeyMinutes) * (list.volume.keyRequests.dollars / list.volume.keyRequests.per)).toFixed(2)}; and what tables and secrets ask.`,
    `The edge: $${((list.volume.edgeRequests.dollars / list.volume.edgeRequests.per + list.volume.filteredRequests.dollars / list.volume.filteredRequests.per) * aMillion).toFixed(2)} a million requests, and $${list.volume.edgeGb.dollars} a GB of answers in the place of $${list.volume.sentGb.dollars}.`,
    '',
  ].join('\n');
}

/** Shows what a million messages cost beside what sends them. */
export function volumeText(title: string, left: Left): string {
  const { logRetentionDays } = settingsFrom(new RootConstruct().node);
  const counts = volumeOf(left, { messages: aMillion, logRetentionDays });
  const dollars = volumeDollars(counts);
  const names = Object.keys(counts) as Volume[];
  const rows = names.map((name) => [
    list.volume[name].what,
    (counts[name] ?? 0).toFixed(2),
    (dollars[name] ?? 0).toFixed(3),
  ]);
  const sum = Object.values(dollars).reduce((total, each) => total + each, 0);
  return [title, ...aligned([['', 'a million', '$ a million'], ...rows, ['together', '', sum.toFixed(3)]])].join('\n');
}
