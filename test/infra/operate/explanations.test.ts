import { describe, expect, it } from 'vitest';
import { codesOfStatus, explained, explanations } from '../../../infra/operate/see/explanations.ts';
import { Refusal, refusalCodes } from '../../../lib/http/refusal.ts';
import refusals from '../../../lib/http/refusals.json' with { type: 'json' };
import { reportedStates } from '../../../lib/messages/receipts/reported-state.ts';
import outcomes from '../../../lib/messages/report/outcome-codes.json' with { type: 'json' };
import advice from '../../../lib/platform/error-advice.json' with { type: 'json' };
import errorCodes from '../../../lib/platform/error-codes.json' with { type: 'json' };
import reasons from '../../../lib/templates/status/status-reasons.json' with { type: 'json' };
import { eventTypes } from '../../../lib/webhooks/event.ts';
import { documentOf, namesIn, sectionsOf, tableRows } from '../../support/documents.ts';

const codesOf = (code: string) => explained(code).map((each) => each.code);

describe('the texts', () => {
  it('are of every refusal, and of no other code', () => {
    const remedy = 'lib/http/refusals.json has each code of lib/http/refusal.ts, in its order';
    expect(Object.keys(refusals), remedy).toEqual([...refusalCodes]);
  });

  it('are of the words of messages that the interface tells, in the same states', () => {
    const rows = tableRows(documentOf('functions/README.md'), '| State | Meaning | Words in `code` |');
    const told = rows.flatMap(([states = '', , words = '']) =>
      namesIn(words).map((word) => `${word} ${namesIn(states).join()}`),
    );
    const known = Object.entries(outcomes).flatMap(([code, { states }]) => states.map((state) => `${code} ${state}`));
    expect(told.sort()).toEqual(known.sort());
  });

  it('are of the reasons of a bulk status', () => {
    const book = sectionsOf(documentOf('functions/README.md')).get('PATCH /v1/templates/status') ?? '';
    const told = namesIn(/Reasons: ([^.]+)\./.exec(book)?.[1] ?? '');
    expect(Object.keys(reasons)).toEqual(told);
  });

  it('are of codes and kinds of the platform that there are', () => {
    const codes = new Set(
      errorCodes.map(({ code, subcode }) => (subcode === undefined ? String(code) : `${code}/${subcode}`)),
    );
    const kinds = new Set(errorCodes.flatMap(({ kind, advice: treatment }) => [kind, `${kind}, ${treatment}`]));
    expect(Object.keys(advice.codes).filter((code) => !codes.has(code))).toEqual([]);
    expect(Object.keys(advice.kinds).filter((kind) => !kinds.has(kind))).toEqual([]);
    expect(explanations.filter(({ where }) => where.includes('platform,'))).toHaveLength(errorCodes.length);
  });

  it('lead to headings that are there', () => {
    const anchors = (path: string) =>
      [...sectionsOf(documentOf(path)).keys()].map((heading) =>
        heading
          .toLowerCase()
          .replaceAll(/[^\w\s-]/g, '')
          .replaceAll(' ', '-'),
      );
    const pages = new Set(explanations.flatMap(({ page }) => page ?? []));
    const stale = [...pages].filter((page) => {
      const [path = '', anchor = ''] = page.split('#');
      return !anchors(path).includes(anchor);
    });
    expect(stale).toEqual([]);
    expect(pages.size).toBeGreaterThan(6);
  });
});

describe('a word that is no code', () => {
  it.each(reportedStates)('%s, a state, says what to do next', (state) => {
    const found = explained(state).filter(({ where }) => where === 'state of a message');
    expect(found.map(({ remedy }) => remedy)).toEqual([
      expect.stringMatching(/^Nothing: |^Look at its code: infra\/ops outcomes --dispatch ID/),
    ]);
  });

  it('of states there are no others', () => {
    const told = explanations.filter(({ where }) => where === 'state of a message').map(({ code }) => code);
    expect(told).toEqual([...reportedStates]);
  });

  it.each(eventTypes)('%s, a kind of event, says its summary and what to do next', (type) => {
    expect(explained(type)).toMatchObject([{ where: expect.stringMatching(/event/), remedy: expect.any(String) }]);
  });
});

describe('a refusal', () => {
  it.each(refusalCodes)('%s is explained by its text, and by its status', (code) => {
    const { status } = new Refusal(code, '');
    const where = `an answer of the service, HTTP ${status}`;
    // over_budget and over_max_cost are codes of messages as well (D56).
    expect(explained(code)).toContainEqual(expect.objectContaining({ where, ...refusals[code] }));
    expect(codesOfStatus(String(status))).toContain(code);
  });
});

describe('a code is found', () => {
  it.each([
    ['template_not_found', ['template_not_found']],
    ['http_502', ['http_<status>']],
    ['131026', ['131026']],
    ['250', ['200-299']],
    ['2388023', ['100/2388023']],
    ['100', ['100']],
    ['nonsense', []],
    ['Unassigned', ['unassigned']],
    ['empty', ['unassigned']],
    ['empty listing', ['unassigned']],
    ['empty_list', ['unassigned']],
    // People and the platform's messages spell codes like this.
    ['(#131026)', ['131026']],
    ['#131026', ['131026']],
    [' 131026 ', ['131026']],
    ['100:33', ['100/33']],
    ['100 33', ['100/33']],
    ['Template_Not_Found', ['template_not_found']],
    ['HTTP_502', ['http_<status>']],
    ['', []],
  ])('%s', (code, found) => {
    expect(codesOf(code)).toEqual(found);
  });

  it('in every place where it occurs: 33 is a code and a subcode', () => {
    expect(codesOf('33')).toEqual(['33', '100/33']);
  });

  it.each([
    ['190', 'the deployment'],
    ['100/33', 'the deployment'],
    ['100/2388023', 'the request'],
    ['131016', 'the platform'],
    ['133004', 'the platform'],
    ['130429', 'nobody'],
    ['131026', 'the recipient'],
    ['132000', 'the template'],
    ['platform_unreachable', 'the platform'],
    ['dispatch_unavailable', 'the service'],
    ['did_mismatch', 'the request'],
  ])('%s is the fault of %s', (code, fault) => {
    expect(explained(code).map((each) => each.fault)).toEqual([fault]);
  });

  it.each([
    ['131042', 'every message of the WABA', true],
    ['131048', 'every MARKETING message of the number that sends', true],
    ['131049', 'this person alone, however often it comes', undefined],
    ['130497', "everybody in the recipient's country, from this WABA alone", undefined],
    [
      '135000',
      'what was refused alone; by receipt, of a message that the platform held: every message of the WABA',
      undefined,
    ],
    ['250', 'every call with the credential', undefined],
    ['worker_lost', undefined, undefined],
  ])('%s with whom it concerns, and whether that waits', (code, concerns, waits) => {
    expect(explained(code).map((each) => [each.concerns, each.waits])).toEqual([[concerns, waits]]);
  });

  it.each([
    ['100/2388019', /deleted templates/],
    ['100/2388023', /30 days/],
    ['100/2388318', /^By nothing/],
    ['100/2388330', /^By nothing/],
    ['131047', /the person/],
    ['131063', /the operator/],
    ['132068', /the flow/],
    ['132069', /the flow/],
  ])('%s with what lifts it, where that of its kind would be wrong', (code, lifted) => {
    expect(explained(code).map((each) => each.lifted)).toEqual([expect.stringMatching(lifted)]);
  });

  it.each([
    ['131026', 'sends to these once more only where its codes name this one'],
    ['131049', 'sends to these once more when a day has passed'],
    ['cancelled', 'sends to these once more only where its codes name this one'],
    ['opted_out', 'leaves these out, whatever its codes name'],
    ['channel_removed', 'sends to these once more'],
    // An unknown message may have these codes.
    ['no_answer', 'never while unknown; failed or expired: sends to these once more'],
    ['131000', 'never while unknown; failed or expired: sends to these once more'],
    ['http_502', 'never while unknown; failed or expired: sends to these once more only where its codes name this one'],
    ['worker_lost', 'never while unknown'],
    ['error', 'never while unknown'],
    // The platform refuses with it at HTTP 500 and does nothing.
    ['131057', 'sends to these once more'],
    ['100/2388023', undefined],
    ['did_mismatch', undefined],
  ])('%s with what a retry makes of it (D57)', (code, retry) => {
    expect(explained(code).map((each) => each.retry)).toEqual([retry]);
  });

  it('of an unknown message with the command that settles it by hand', () => {
    const ofUnknown = explanations.filter(({ retry }) => retry?.includes('unknown'));
    expect(ofUnknown.length).toBeGreaterThan(6);
    const silent = ofUnknown.filter(({ remedy }) => !remedy.includes('infra/ops outcomes --resolve'));
    expect(silent.map(({ code }) => code)).toEqual([]);
  });

  it('each code of the platform with what lifts it, and no other', () => {
    const told = explanations.filter(({ lifted }) => lifted !== undefined);
    expect(told).toHaveLength(errorCodes.length);
    expect(told.every(({ concerns }) => concerns !== undefined)).toBe(true);
    expect(told.filter(({ waits }) => waits)).toHaveLength(errorCodes.filter((row) => 'holds' in row).length);
  });
});
