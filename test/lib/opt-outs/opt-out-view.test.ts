import { describe, expect, test } from 'vitest';
import type { Entry, OptOutChange } from '../../../lib/opt-outs/entry.ts';
import { optOutOf } from '../../../lib/opt-outs/opt-out-view.ts';
import { noOptOuts } from '../../../lib/opt-outs/person.ts';
import type { ScopeText, ShownScopeText } from '../../../lib/opt-outs/scope.ts';

const atMs = Date.UTC(2026, 10, 22, 10);
const word = <const W extends Omit<OptOutChange, 'atMs'>>(said: W, laterMs = 0) => ({ ...said, atMs: atMs + laterMs });
const stop = (laterMs = 0) => word({ says: 'stopped', source: 'platform' }, laterMs);
const start = (laterMs = 0) => word({ says: 'started', source: 'platform' }, laterMs);
const told = { told: word({ says: 'stopped', source: 'api' }) } satisfies Entry;

const scopes = new Set<ShownScopeText>(['client:7', 'number:31', 'number:32', 'waba:11']);
const shown = (entries: Partial<Record<ScopeText, Entry>>) =>
  optOutOf('5491155550001', { ...noOptOuts, entries }, { clientId: 7, scopes });

describe('what a client is shown of a person (D55)', () => {
  test.each<[string, Partial<Record<ScopeText, Entry>>, object | undefined]>([
    ['nothing was said', {}, undefined],
    ['only another client', { 'client:8': told }, undefined],
    ['only a number and a WABA of others', { 'number:39': { said: stop() }, 'waba:19': { said: stop() } }, undefined],
    ['only the number, in words that tell no client', { 'words:31': { said: stop() } }, undefined],
    [
      'itself, taken back, and the number, in words that tell no client',
      { 'words:31': { said: stop(9) }, 'client:7': { told: word({ says: 'started', source: 'api' }) } },
      { state: 'started', source: 'api', scope: 'client', platform_stopped: false },
    ],
    ['itself, and the person', { 'client:7': { said: stop() } }, { scope: 'client', platform_stopped: false }],
    ['itself', { 'client:7': told, 'client:8': {} }, { state: 'stopped', source: 'api', scope: 'client' }],
    [
      'itself, and the platform a number of others',
      { 'client:7': told, 'number:39': { said: stop() } },
      { scope: 'client', platform_stopped: false },
    ],
    [
      'itself, taken back, and the platform a number',
      { 'number:31': { said: stop(9) }, 'client:7': { told: word({ says: 'started', source: 'api' }) } },
      { state: 'started', source: 'api', scope: 'client', platform_stopped: true },
    ],
    [
      'the platform, of numbers: a stop before a later start',
      { 'number:31': { said: start(9) }, 'number:32': { said: stop() } },
      { state: 'stopped', source: 'platform', scope: 'number', platform_stopped: true },
    ],
    [
      'the platform, of a number and a WABA: the later stop',
      { 'number:31': { said: stop() }, 'waba:11': { said: stop(9) } },
      { scope: 'waba', at: new Date(atMs + 9).toISOString() },
    ],
    [
      'the platform, taken back everywhere',
      { 'number:31': { said: start() }, 'number:32': { said: start(9) } },
      { state: 'started', scope: 'number', at: new Date(atMs + 9).toISOString(), platform_stopped: false },
    ],
  ])('%s', (_, entries, expected) => {
    if (expected === undefined) expect(shown(entries)).toBeUndefined();
    else expect(shown(entries)).toMatchObject({ recipient: '5491155550001', ...expected });
  });
});
