import { receiverOfFile } from './receiver-of-file.ts';
import { firstWaba, type SimulatorAtRest, secondWaba } from './simulator.ts';

export interface Change {
  readonly wabaId: string;
  readonly field: string;
  // biome-ignore lint/suspicious/noExplicitAny: values of every shape
  readonly value: any;
}

/** Subscribes a receiver to both WABAs before every test of the file, and returns readers of what it received. */
export function hearing(simulator: Pick<SimulatorAtRest, 'control'>) {
  const receiver = receiverOfFile(simulator, { subscribed_waba_ids: [firstWaba, secondWaba] });
  const { wait } = receiver;
  /** Returns all changes so far, after everything that is due. */
  const changes = async (field?: string): Promise<readonly Change[]> => {
    await wait(0);
    const entries = receiver.calls.flatMap(({ bytes }) => JSON.parse(bytes.toString()).entry);
    const all = entries.flatMap(({ id, changes: list }: { id: string; changes: Omit<Change, 'wabaId'>[] }) =>
      list.map((change) => ({ wabaId: id, ...change })),
    );
    return all.filter((change) => field === undefined || change.field === field);
  };
  return {
    wait,
    changes,
    /** Only entries with a time are news of nodes. */
    timed: async () => {
      await wait(0);
      const entries = receiver.calls.flatMap(({ bytes }) => JSON.parse(bytes.toString()).entry);
      return entries.filter((entry) => 'time' in entry).map((entry) => entry.changes[0].field);
    },
    values: async (field: string) => (await changes(field)).map(({ value }) => value),
    statuses: async () => (await changes('messages')).flatMap(({ value }) => value.statuses ?? []),
    failures: async () =>
      (await changes('messages')).flatMap(({ value }) =>
        (value.statuses ?? []).flatMap(({ errors = [] }: { errors?: { code: number }[] }) =>
          errors.map(({ code }) => code),
        ),
      ),
    forget: () => receiver.forget(),
  };
}
