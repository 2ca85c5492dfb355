import { amountOf } from './dispatch-model.ts';
import { Empty } from './parts.tsx';

export interface SpendDay {
  readonly day: string;
  readonly sent: number;
  readonly failed: number;
  readonly held: number;
  readonly calls: number;
  readonly amount: number;
}

const counts = { sent: 'Sent', failed: 'Failed', held: 'Held', calls: 'Calls' } as const;
const dayWords = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** Shows how messages ended and what they cost, day by day, the latest first. */
export function SpendDays({ days }: { readonly days: readonly SpendDay[] }) {
  if (days.length === 0) return <Empty title="Nothing was sent this month" />;
  return (
    <section aria-label="Day by day">
      <table class="days">
        <thead>
          <tr>
            <th scope="col">Day (UTC)</th>
            {Object.values(counts).map((word) => (
              <th key={word} class="number" scope="col">
                {word}
              </th>
            ))}
            <th class="number" scope="col">
              USD
            </th>
          </tr>
        </thead>
        <tbody>
          {days.toReversed().map((each) => (
            <tr key={each.day}>
              <th scope="row">{dayWords.format(Date.parse(each.day))}</th>
              {(Object.keys(counts) as (keyof typeof counts)[]).map((kind) => (
                <td key={kind} class="number">
                  {each[kind].toLocaleString('en')}
                </td>
              ))}
              <td class="number">{amountOf(each.amount)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="note">
        Sent: the platform took it. Held: it took it and keeps it back. Calls: requests to the platform, repeated ones
        too, at least so many. These stand under the day on which the service was asked to send, the cost under the day
        of the delivery.
      </p>
    </section>
  );
}
