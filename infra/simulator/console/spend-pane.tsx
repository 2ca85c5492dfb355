import { useState } from 'preact/hooks';
import { campaignNameOf, moneyOf, type Names } from './dispatch-model.ts';
import { type Answer, BackButton, Empty, Failed, Problem, useAnswer, Waiting } from './parts.tsx';
import { addressOf } from './router.ts';
import { moment } from './service-polling.ts';
import { asUser, forClient } from './session.ts';
import { type SpendDay, SpendDays } from './spend-days.tsx';
import { createStore, useStore } from './store.ts';
import { counted, numberOf } from './texts.ts';

/** The address has this in the place of a dispatch. */
export const spendAddress = 'spend';

interface Sum {
  readonly messages: number;
  readonly billed: number;
  readonly amount: number;
  readonly currency: string;
}

interface SpendRow extends Sum {
  readonly campaign_id?: number | null;
  readonly template?: { readonly name: string; readonly language: string };
  readonly did?: string;
  readonly market?: string | null;
}

interface Spend {
  readonly from: string;
  readonly data: readonly SpendRow[];
  readonly total: Sum;
  readonly days: readonly SpendDay[];
}

const groups = { campaign: 'Campaign', template: 'Template', did: 'Number', market: 'Market', day: 'Day' } as const;
type Group = keyof typeof groups;

/** Every answer of the service has the days, so any group does for them. */
function askedGroup(group: Group): Exclude<Group, 'day'> {
  return group === 'day' ? 'campaign' : group;
}

const chosenGroup = createStore<Group>('campaign');

/** Sums follow within seconds to a minute: they are read at every second moment. */
const everyMoments = 2;

function useSpend(who: string): Answer<Spend> {
  const group = askedGroup(useStore(chosenGroup));
  const turn = Math.floor(useStore(moment) / everyMoments);
  return useAnswer(() => asUser<Spend>('GET', forClient(`/v1/spend?group=${group}`)), `${who} ${group} ${turn}`);
}

function monthOf(from: string): string {
  return new Intl.DateTimeFormat('en', { month: 'long', timeZone: 'UTC' }).format(Date.parse(from));
}

/** Shows this month's spend in a line, and the way to all of it. */
export function SpendLine({ who }: { readonly who: string }) {
  const turn = Math.floor(useStore(moment) / everyMoments);
  const { value } = useAnswer(() => asUser<Spend>('GET', forClient('/v1/spend')), `${who} ${turn}`);
  return (
    <a class="spend-line" href={addressOf('dispatches', spendAddress)}>
      {value === undefined
        ? 'This month'
        : `${moneyOf(value.total.amount, value.total.currency)} in ${monthOf(value.from)}`}
    </a>
  );
}

interface SpendProps {
  readonly who: string;
  readonly names: Names;
}

/** Shows what this month has cost at list prices, the dearest first. */
export function SpendPane({ who, names }: SpendProps) {
  const { value, problem, again } = useSpend(who);
  const group = useStore(chosenGroup);
  if (value === undefined) {
    return problem === '' ? (
      <Waiting />
    ) : (
      <Failed title="What was spent could not be read" problem={problem} onAgain={again} />
    );
  }
  const { total, data, days } = value;
  return (
    <div class="exchange dispatch">
      <BackButton page="dispatches">All dispatches</BackButton>
      <h2>{monthOf(value.from)}, so far</h2>
      <p class="figure">{moneyOf(total.amount, total.currency)}</p>
      <p class="note">
        {counted(total.messages, 'delivered message')}, {total.billed.toLocaleString('en')} billed, at list prices.{' '}
        {names.client}
      </p>
      <fieldset class="action-line chips">
        <legend>By</legend>
        {Object.entries(groups).map(([each, word]) => (
          <button
            key={each}
            type="button"
            class="button"
            aria-pressed={each === group}
            onClick={() => chosenGroup.set(each as Group)}
          >
            {word}
          </button>
        ))}
      </fieldset>
      <Problem text={problem} />
      {group === 'day' ? <SpendDays days={days} /> : <Spent data={data} names={names} />}
      <p class="note">Choose a dispatch in the list to see what became of it.</p>
    </div>
  );
}

/** Templates may be thousands, so only this many rows are shown at once. */
const mostShown = 50;

function Spent({ data, names }: { readonly data: readonly SpendRow[]; readonly names: Names }) {
  const [shown, setShown] = useState(mostShown);
  const dearest = data[0]?.amount || 1;
  if (data.length === 0) return <Empty title="Nothing was delivered this month" />;
  return (
    <>
      <ul class="spent">
        {data.slice(0, shown).map((row) => (
          <li key={nameOf(row, names)}>
            <span class="row-line">
              <strong>{nameOf(row, names)}</strong>
              <span>{moneyOf(row.amount, row.currency)}</span>
            </span>
            <span class="state-bar" aria-hidden="true">
              <span class="state-read" style={{ width: `${(row.amount / dearest) * 100}%` }} />
            </span>
            <span class="note">{counted(row.messages, 'message')}</span>
          </li>
        ))}
      </ul>
      {data.length > shown ? (
        <button type="button" class="button" onClick={() => setShown(shown + mostShown)}>
          Show more
        </button>
      ) : null}
    </>
  );
}

function nameOf(row: SpendRow, names: Names): string {
  if (row.template !== undefined) return `${row.template.name} ${row.template.language}`;
  if (row.did !== undefined) return `${numberOf(row.did)} ${names.channels.get(row.did) ?? ''}`;
  if (row.market !== undefined) return row.market === null ? 'Country unknown' : countryOf(row.market);
  const id = row.campaign_id;
  return id === null || id === undefined ? 'Without a campaign' : campaignNameOf(id, names);
}

const countries = new Intl.DisplayNames('en', { type: 'region' });

function countryOf(market: string): string {
  try {
    return countries.of(market) ?? market;
  } catch {
    return market;
  }
}
