import { demoSeed } from '#simulator/contract';
import { audience, demoDid, orderUpdate } from '../../../infra/local/demo/audience.ts';
import { call, type DemoClient } from '../../../infra/local/demo/client.ts';
import { progressOn } from '../../../infra/local/demo/progress.ts';
import { watched } from '../../../infra/local/demo/watching.ts';
import {
  audited,
  auditOf,
  type SendAudit,
  shownAudit,
  shownCounts,
  type ToldRecipient,
} from '../../support/send-audit.ts';
import { countsWatched, type Dispatch, type StateCounts, sendingAt, takenAt, toldOf, untoldAt } from './record.ts';

export const demoUser = 'supervisor1001';
export const demoNumberId = '300000000000001';
export const demoWabaId = '200000000000001';
const demoClientId = 1001;
/** The template that a trial sends, at the platform. */
export const orderUpdateId = demoTemplate().id;

const everyMs = 500;
const countedEveryMs = 2_000;
/** A small request of a killed worker comes again after 6 1/2 minutes, once its claim is dead. */
const quietLimitMs = 8 * 60_000;
/** The last receipts still reach the reports, and settle who is unknown. */
const lastReceiptsMs = 60_000;

type Part = 'calm' | 'trouble' | 'told' | 'end' | 'proof';

/** Returns the demo data's template that a trial sends. */
export function demoTemplate() {
  const found = demoSeed().wabas[0]?.templates.find(({ name }) => name === orderUpdate.name);
  if (found === undefined) throw new Error(`the demo data has no template ${orderUpdate.name}`);
  return found;
}

/** The service and its simulated platform run there. */
export interface Place {
  readonly platformUrl: string;
  readonly logIn: (user: string) => Promise<DemoClient>;
  /** It aborts what still runs, some time after `endMs`. */
  readonly signal: AbortSignal;
  /** What has not ended by then, of `performance.now()`, is not waited for. */
  readonly endMs: number;
}

export interface Verdict {
  readonly states: StateCounts | undefined;
  readonly audit: SendAudit;
  /** One sentence tells each thing that must not be. */
  readonly faults: readonly string[];
}

/**
 * A campaign on a running service to which harm is done: it sends, waits, and compares in the end what the platform took
 * with what was told.
 */
export class Trial {
  readonly dispatches: Dispatch[] = [];
  /** It is undefined until the record was compared. */
  verdict: Verdict | undefined;
  readonly platformUrl: string;
  readonly signal: AbortSignal;
  readonly #place: Place;

  constructor(place: Place) {
    this.#place = place;
    this.platformUrl = place.platformUrl;
    this.signal = place.signal;
  }

  tell(part: Part, line: string): void {
    console.log(`${`${part}:`.padEnd(9)}${line.replaceAll('\n', `\n${' '.repeat(9)}`)}`);
  }

  /** Calls the control interface of the simulated platform. */
  async platform(route: string, body?: unknown): Promise<unknown> {
    const { json } = await call({ baseUrl: this.platformUrl, route, body, signal: this.signal });
    return json;
  }

  logIn(user: string = demoUser): Promise<DemoClient> {
    return this.#place.logIn(user);
  }

  /** Asks for the reports with this client from now on: a new deployment has another address. */
  askBy(client: DemoClient): void {
    this.dispatches.splice(0, this.dispatches.length, ...this.dispatches.map((each) => ({ ...each, client })));
  }

  /** Sends the demo template to people of its own. */
  async send(client: DemoClient, recipients: number): Promise<Dispatch> {
    const people = audience(recipients, this.dispatches.length);
    const dispatchId = await client.send({ did: demoDid, template: orderUpdate, recipients: people });
    const dispatch = { client, clientId: demoClientId, did: demoDid, dispatchId, total: recipients };
    this.dispatches.push(dispatch);
    this.tell('calm', `${recipients} recipients accepted, dispatch ${dispatchId}`);
    return dispatch;
  }

  async taken(): Promise<number> {
    return (await takenAt(this.platformUrl, this.signal)).length;
  }

  /** Counts from now on what the platform takes. */
  takenSince(): () => Promise<number> {
    const before = this.taken();
    return async () => (await this.taken()) - (await before);
  }

  /**
   * Waits until the platform has taken so many, and returns how many. Fails when all have left by then, because the
   * trouble must meet the middle.
   */
  async midway(atLeast = 0): Promise<number> {
    const left = await this.until(
      `${atLeast} messages have left`,
      () => this.taken(),
      (taken) => taken >= atLeast,
    );
    const all = this.dispatches.reduce((sum, { total }) => sum + total, 0);
    if (left >= all) throw new Error(`all ${all} had left: that is not the middle of a campaign`);
    this.tell('calm', `${left} of ${all} have left`);
    return left;
  }

  /** Throws when it has not become so, and nothing has changed for minutes. */
  async until<Seen>(what: string, look: () => Seen | Promise<Seen>, isSo: (seen: Seen) => boolean): Promise<Seen> {
    const seen = await this.#watched(look, { isSo, sign: (all) => all });
    if (!isSo(seen)) throw new Error(`waited in vain until ${what}; seen last: ${JSON.stringify(seen)}`);
    return seen;
  }

  /**
   * Waits until nothing is pending, or nothing moves any more. `more` hears the counts, and returns whether more is to
   * come.
   */
  async ended(more: (counts: StateCounts) => Promise<boolean> = async () => false): Promise<StateCounts | undefined> {
    const progress = progressOn(process.stdout);
    const count = countsWatched(this.dispatches);
    const look = async () => {
      const counts = await count();
      if (counts !== undefined) progress.show(counts);
      return { counts, isMore: counts === undefined || (await more(counts)) };
    };
    const isSo = (seen: Awaited<ReturnType<typeof look>>) => !seen.isMore && seen.counts?.pending === 0;
    try {
      return (await this.#watched(look, { isSo, sign: (all) => all, everyMs: countedEveryMs })).counts;
    } finally {
      progress.end();
    }
  }

  /** Waits for the end of every dispatch, then compares the platform's record with the reports and the events. */
  async compared(): Promise<Verdict> {
    const states = await this.ended();
    // A copy of a message, or a receipt, could still show that a recipient was sent to twice.
    const underWay = () => this.underWay();
    await this.#watched(underWay, { isSo: (count) => count === 0, sign: String, everyMs: countedEveryMs });
    const look = async () => {
      const told = await toldOf(this.dispatches);
      return { told, audit: auditOf(told, await takenAt(this.platformUrl, this.signal)) };
    };
    const { told, audit } = await this.#watched(look, {
      isSo: (seen) => seen.audit.unknownTaken.length === 0,
      sign: (seen) => seen.audit.unknownTaken.length,
      everyMs: countedEveryMs,
      quietLimitMs: lastReceiptsMs,
    });
    const { duplicates } = await sendingAt(this.platformUrl, this.signal);
    const faults = [
      ...audited(audit),
      ...(duplicates.total === 0 ? [] : [`${duplicates.total} message ids were accepted twice`]),
      ...this.eventFaults(told),
      ...(performance.now() > this.#place.endMs ? ['the time was not enough'] : []),
    ];
    this.verdict = { states, audit, faults };
    return this.verdict;
  }

  /** Compares, tells it, and throws when anything is not as it must be. */
  async proven(): Promise<void> {
    const { states, audit, faults } = await this.compared();
    this.tell('proof', `the reports say ${shownCounts(states)}`);
    this.tell('proof', shownAudit(audit));
    if (faults.length > 0) throw new Error(faults.join('\n'));
  }

  /** Counts what may still change record or reports. */
  protected underWay(): Promise<number> {
    return untoldAt(this.platformUrl, this.signal);
  }

  /** Compares the events that the clients got with the reports; there are none where no receiver can be reached. */
  protected eventFaults(_told: readonly ToldRecipient[]): readonly string[] {
    return [];
  }

  #watched<Seen>(look: () => Seen | Promise<Seen>, watch: Watch<Seen>): Promise<Seen> {
    return watched({
      ...{ everyMs, quietLimitMs, signal: this.signal, ...watch },
      look: async () => look(),
      isOver: (seen) => watch.isSo(seen) || performance.now() > this.#place.endMs,
    });
  }
}

interface Watch<Seen> {
  readonly isSo: (seen: Seen) => boolean;
  readonly sign: (seen: Seen) => unknown;
  readonly everyMs?: number;
  readonly quietLimitMs?: number;
}
