import { OptOutsDeleteAnswer, OptOutsDeletePath, OptOutsDeleteQuery } from '../../../functions/opt-outs-delete.ts';
import { OptOutsListAnswer, OptOutsListQuery } from '../../../functions/opt-outs-list.ts';
import { OptOutsPutAnswer, OptOutsPutPath, OptOutsPutQuery } from '../../../functions/opt-outs-put.ts';
import type { Operations } from '../operation.ts';
import { ofCallers, ofClients } from '../refusals.ts';

const recipient = '5491155550099';
const stopped = {
  recipient,
  state: 'stopped',
  source: 'api',
  scope: 'client',
  at: '2026-11-22T10:00:00.000Z',
  platform_stopped: false,
} as const;

export const optOuts: Operations = {
  'opt-outs-put': {
    tag: 'Opt-outs',
    summary: 'Stop marketing to a person',
    description:
      'The person gets no MARKETING of the client any more, and no UTILITY where the client is set up so: such a recipient ends failed with opted_out, without a call. Repeating it changes nothing but at.',
    path: OptOutsPutPath,
    query: OptOutsPutQuery,
    answers: { 200: { description: 'What is known of the person now.', schema: OptOutsPutAnswer } },
    refusals: [...ofCallers, ...ofClients],
    examples: { one: { summary: 'A number', parameters: { recipient }, status: 200, answer: stopped } },
  },
  'opt-outs-list': {
    tag: 'Opt-outs',
    summary: 'List opt-outs',
    description:
      'The people who have stopped marketing of the client, or started it again, each once, in an order that says nothing. A page may have fewer entries than limit; only the last has no after.',
    query: OptOutsListQuery,
    answers: { 200: { description: 'A page; only the last has no after.', schema: OptOutsListAnswer } },
    refusals: [...ofCallers, ...ofClients],
    examples: {
      first: {
        summary: 'The first page',
        parameters: { limit: 1000 },
        status: 200,
        answer: { data: [stopped], paging: { cursors: {} } },
      },
    },
  },
  'opt-outs-delete': {
    tag: 'Opt-outs',
    summary: 'Take an opt-out back',
    description:
      'Lifts what the client itself has said by this interface or by an import. What the person or the platform has stopped for the client is 409. A stop of the platform for a number or WABA stays: platform_stopped. Of somebody unknown, or repeated, it is 200 too.',
    path: OptOutsDeletePath,
    query: OptOutsDeleteQuery,
    answers: { 200: { description: 'What is known of the person now.', schema: OptOutsDeleteAnswer } },
    refusals: [...ofCallers, ...ofClients, 'opted_out_by_person'],
    examples: {
      one: { summary: 'A number', parameters: { recipient }, status: 200, answer: { ...stopped, state: 'started' } },
    },
  },
};
