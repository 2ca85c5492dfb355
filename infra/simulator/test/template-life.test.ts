import { describe, expect, test } from 'vitest';
import { bodyOf, demoTemplates, plainBody, templateWords } from './support/definitions.ts';
import { firstWaba, recipient, simulatorOfFile } from './support/simulator.ts';

const simulator = simulatorOfFile({ afresh: true });

const hour = 3_600;
const day = 24 * hour;
const { create, wait, read, statusOf, edit } = templateWords(simulator);
const { orderUpdate, pending, rejected, paused } = demoTemplates;
const other = { components: [bodyOf('Hello {{1}}, look again.')] };

describe('review', () => {
  test('takes 60 seconds of the simulator: PENDING, then APPROVED, dated when it was', async () => {
    const { id } = await create();
    await wait(59);
    expect(await statusOf(id)).toBe('PENDING');
    await wait(5);
    expect(await read(id, 'status,last_updated_time,rejected_reason')).toEqual({
      status: 'APPROVED',
      last_updated_time: '2026-11-20T12:01:00+0000',
      rejected_reason: 'NONE',
    });
  });

  test.each([
    ['Buy REJECT_PROMOTIONAL now.', 'PROMOTIONAL'],
    ['Buy REJECT_SCAM now.', 'SCAM'],
    ['Buy REJECT_ABUSIVE_CONTENT now.', 'ABUSIVE_CONTENT'],
    ['Buy REJECT_INCORRECT_CATEGORY now.', 'INCORRECT_CATEGORY'],
    ['Buy REJECT_TAG_CONTENT_MISMATCH now.', 'TAG_CONTENT_MISMATCH'],
    ['Buy REJECT_INVALID_FORMAT now.', 'INVALID_FORMAT'],
    ['Hello {{1}}{{2}} there.', 'INVALID_FORMAT'],
  ])('"%s" is rejected: %s', async (text, reason) => {
    const { id } = await create({ components: [bodyOf(text)] });
    await wait(60);
    expect(await read(id, 'status,rejected_reason')).toEqual({ status: 'REJECTED', rejected_reason: reason });
  });

  test('REVIEW_NOW: the answer already says what came of it', async () => {
    expect(await create({ components: [bodyOf('REVIEW_NOW please.')] })).toMatchObject({ status: 'APPROVED' });
    const refused = await create({ name: 'no', components: [bodyOf('REVIEW_NOW and REJECT_SCAM please.')] });
    expect(refused.status).toBe('REJECTED');
  });

  test('REVIEW_NEVER, and what the seed or the control interface made PENDING, stays so', async () => {
    const { id } = await create({ components: [bodyOf('REVIEW_NEVER please.')] });
    await wait(day);
    expect([await statusOf(id), await statusOf(pending)]).toEqual(['PENDING', 'PENDING']);
  });

  test('the control interface decides, and no review overrules it', async () => {
    const { id } = await create();
    await simulator.control('POST', `templates/${id}`, { status: 'REJECTED', rejected_reason: 'SCAM' });
    await wait(day);
    expect(await read(id, 'status,rejected_reason')).toEqual({ status: 'REJECTED', rejected_reason: 'SCAM' });
  });

  test('a change by the control interface that leaves the status alone leaves the review alone', async () => {
    const { id } = await create();
    await simulator.control('POST', `templates/${id}`, { quality_score: { score: 'GREEN' } });
    await wait(60);
    expect(await read(id, 'status,quality_score')).toEqual({
      status: 'APPROVED',
      quality_score: { score: 'GREEN', date: 1_795_176_000 },
    });
  });

  test('the status filter and the sending follow at once', async () => {
    await create();
    const send = () => simulator.send(recipient, { template: { name: 'order_ready', language: { code: 'en_US' } } });
    expect((await send()).body.error.code).toBe(132001);
    await wait(60);
    expect((await send()).body.error.code).toBe(132000);
    const { body } = await simulator.get(`${firstWaba}/message_templates`, { status: 'APPROVED', name: 'order_ready' });
    expect(body.data).toHaveLength(1);
  });
});

describe('pause', () => {
  const pause = (id: string) => simulator.control('POST', `templates/${id}/pause`);

  test('3 hours, then 6, then disabled', async () => {
    expect((await pause(orderUpdate)).body).toEqual({ id: orderUpdate, status: 'PAUSED' });
    await wait(3 * hour - 1);
    expect((await simulator.send(recipient)).body.error.code).toBe(132015);
    await wait(1);
    expect((await simulator.send(recipient)).status).toBe(200);
    await pause(orderUpdate);
    await wait(6 * hour - 1);
    expect(await statusOf(orderUpdate)).toBe('PAUSED');
    await wait(1);
    expect(await statusOf(orderUpdate)).toBe('APPROVED');
    expect((await pause(orderUpdate)).body.status).toBe('DISABLED');
    await wait(30 * day);
    expect((await simulator.send(recipient)).body.error.code).toBe(132016);
  });

  test('unpause ends it at once; of one that is not paused it says so', async () => {
    await pause(orderUpdate);
    expect((await simulator.post(`${orderUpdate}/unpause`)).body).toEqual({ success: true });
    expect(await statusOf(orderUpdate)).toBe('APPROVED');
    expect((await simulator.post(`${orderUpdate}/unpause`)).body).toEqual({
      success: false,
      reason: expect.any(String),
    });
    expect((await pause(orderUpdate)).body.status).toBe('PAUSED');
    await wait(6 * hour - 1);
    expect(await statusOf(orderUpdate)).toBe('PAUSED');
  });

  test('nothing is left of a pause that was ended', async () => {
    await pause(orderUpdate);
    await simulator.post(`${orderUpdate}/unpause`);
    await wait(day);
    expect(await read(orderUpdate, 'last_updated_time')).toEqual({ last_updated_time: '2026-11-20T12:00:00+0000' });
  });

  test('an edit takes the place of the pause', async () => {
    await pause(orderUpdate);
    await edit(orderUpdate, { components: [bodyOf('REVIEW_NEVER please.')] });
    await wait(day);
    expect(await statusOf(orderUpdate)).toBe('PENDING');
  });

  test('only approved ones', async () => {
    const { status, body } = await pause(rejected);
    expect([status, body.field]).toEqual([400, 'status']);
    expect((await pause('1')).status).toBe(404);
  });

  test('a status set by hand stays: PAUSED is not ended by the clock', async () => {
    await pause(orderUpdate);
    await simulator.control('POST', `templates/${orderUpdate}`, { status: 'ARCHIVED' });
    await wait(day);
    expect([await statusOf(orderUpdate), await statusOf(paused)]).toEqual(['ARCHIVED', 'PAUSED']);
  });
});

test('reset takes reviews, edits and pauses back', async () => {
  await edit(orderUpdate, other);
  await simulator.control('POST', 'reset');
  await wait(60);
  expect(await read(orderUpdate, 'last_updated_time')).toEqual({ last_updated_time: '2026-10-20T09:30:00+0000' });
  expect((await edit(orderUpdate, { components: [plainBody] })).status).toBe(200);
});
