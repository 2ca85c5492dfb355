import type { Item } from '../../aws/dynamodb-batch.ts';
import type { PersonIds } from './person.ts';
import type { Rewriter } from './rewrite-store.ts';

/** Where items of a job have something of a person. */
export const jobPlaces = ['addresses', 'parameters', 'outcomes', 'receipts', 'shared'] as const;
export type JobPlace = (typeof jobPlaces)[number];

/** Recipients of a job who are the person, and what more is to be known of them. */
export interface PersonInJob {
  readonly jobId: string;
  readonly indexes: readonly number[];
  readonly ids: PersonIds;
  /** Of this client alone. */
  readonly clientId?: number | undefined;
}

/** What was done in a job, or is to be. */
export interface ErasedInJob {
  readonly messages: number;
  /** Messages that no worker had claimed: they end `failed`, `erased`. */
  readonly pending: number;
  /** Messages in the hands of a worker, who may still write what the platform says of them: the job stays marked as unfinished. */
  readonly underWay: number;
  /** Items that changed. */
  readonly changed: Readonly<Partial<Record<JobPlace, number>>>;
}

/** `learned` is awaited before anything goes from which an id was learned. */
export type EraseInJob = (
  person: PersonInJob,
  learned: (ids: readonly string[]) => Promise<void>,
) => Promise<ErasedInJob | undefined>;

/** Ids that an erasing has learned, by one that was given: written down before what taught them goes, so that a run that died is repeated. */
export interface LearnedIds {
  of(id: string): Promise<readonly string[]>;
  note(id: string, learned: readonly string[]): Promise<void>;
  forget(id: string): Promise<void>;
}

/** Who is to be erased. */
export interface Erasing {
  readonly ids: PersonIds;
  /** Only what belongs to this client. */
  readonly clientId?: number | undefined;
}

export interface ErasePorts {
  readonly rewriter: Rewriter;
  readonly eraseInJob: EraseInJob;
  readonly learnedIds: LearnedIds;
  /** All items of the messages table that may name a person, page by page; returns the read units that it took. */
  readonly scanMessages: (each: (items: readonly Item[]) => Promise<void>) => Promise<number>;
  /** The events of the webhooks table whose text may spell one of the ids, of one client or of all. */
  readonly scanEvents: (erasing: Erasing, each: (items: readonly Item[]) => Promise<void>) => Promise<number>;
  readonly tables: { readonly messages: string; readonly webhooks: string };
}
