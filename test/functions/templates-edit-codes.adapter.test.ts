import { describe, expect, test } from 'vitest';
import { failures } from '../support/management.ts';
import { editedAtMs, editedWaba, templateEdits } from '../support/template-edits.ts';

const { world, store, stored, edit } = templateEdits();

describe('one-time codes (D20)', () => {
  const buttonsOf = (more: object) => ({
    type: 'BUTTONS',
    buttons: [{ type: 'OTP', otp_type: 'ONE_TAP', supported_apps: [app], ...more }],
  });
  const app = { package_name: 'com.example.app', signature_hash: 'K8a/AINcGX7' };
  const given = (more: object = {}, minutes?: number) => [
    { type: 'BODY', add_security_recommendation: true },
    ...(minutes === undefined ? [] : [{ type: 'FOOTER', code_expiration_minutes: minutes }]),
    buttonsOf(more),
  ];
  const url = 'https://www.example.com/otp/code/?otp_type=ONE_TAP&code=otp{{1}}';
  const shownAs = (text: string, minutes?: number) => [
    { type: 'BODY', text: '*{{1}}* is your code.', add_security_recommendation: true },
    ...(minutes === undefined
      ? []
      : [{ type: 'FOOTER', text: `This code expires in ${minutes} minutes.`, code_expiration_minutes: minutes }]),
    { type: 'BUTTONS', buttons: [{ type: 'URL', text, url, example: [url.replace('{{1}}', '123')] }] },
  ];

  /** Stores a template as the platform shows it after an edit from here with these components. */
  async function edited(sent: readonly object[], shown: readonly object[]) {
    const what = await stored({ category: 'AUTHENTICATION', components: shown as never, status: 'REJECTED' });
    expect(await edit(what.id, { components: sent })).toMatchObject({ body: { changed: true } });
    const { wabaId, clientIds } = editedWaba;
    await store().refresh({ wabaId, clientIds }, what.template, editedAtMs + 1);
    world.platform.calls.length = 0;
    return what;
  }

  test('what is not shown and was not sent from here counts as a change; afterwards it is known, synchronized or not', async () => {
    const { id } = await edited(given(), shownAs('Copy code'));
    expect(await edit(id, { components: given() })).toMatchObject({ body: { changed: false } });
    expect(world.platform.calls).toEqual([]);
  });

  test.each<[string, object]>([
    ['one app more', { supported_apps: [app, { ...app, package_name: 'com.example.other' }] }],
    ['autofill_text', { autofill_text: 'Fill in' }],
    ['a label of its own', { text: 'Copy it' }],
  ])('another %s is a change', async (_, more) => {
    const { template, id } = await edited(given(), shownAs('Copy code'));
    expect(await edit(id, { components: given(more) })).toMatchObject({ body: { changed: true } });
    expect(world.platform.calls).toMatchObject([['edit', template.id, { components: [{}, buttonsOf(more)] }]]);
  });

  test.each<[string, object]>([
    ['the autofill text', { autofill_text: 'Fill in' }],
    ['the label', { text: 'Copy it' }],
  ])('leaving out %s is a change', async (_, more) => {
    const { id } = await edited(given(more), shownAs('Copy it'));
    expect(await edit(id, { components: given() })).toMatchObject({ body: { changed: true } });
  });

  test('a template created again elsewhere has nothing of what was sent for the one before', async () => {
    const { template, id } = await edited(given(), shownAs('Copy code'));
    world.platform.found = { ...template, id: '4713' };
    expect(await edit(id, { components: given() })).toMatchObject({ body: { changed: true } });
  });

  test('an answer that was lost: the state of the platform is unknown, so the same again is a change', async () => {
    const { id } = await edited(given(), shownAs('Copy code'));
    world.platform.failure = failures.brokenOff;
    const other = given({ autofill_text: 'Fill in' });
    expect(await edit(id, { components: other })).toMatchObject({ status: 502 });
    world.platform.failure = undefined;
    expect(await edit(id, { components: given() })).toMatchObject({ body: { changed: true } });
  });

  test('a refusal leaves what is known', async () => {
    const { id } = await edited(given(), shownAs('Copy code'));
    world.platform.failure = failures.content;
    expect(await edit(id, { components: given({ autofill_text: 'Fill in' }) })).toMatchObject({ status: 400 });
    expect(await edit(id, { components: given() })).toMatchObject({ body: { changed: false } });
  });
});

describe('a template sent back as it was read (D20)', () => {
  const code = (url: string) => ({
    type: 'BUTTONS',
    buttons: [{ type: 'URL', text: 'Copy', url, example: [url.replace('{{1}}', '123')] }],
  });
  const url = 'https://www.example.com/otp/code/?otp_type=COPY_CODE&code=otp{{1}}';
  const advised = { type: 'BODY', text: '*{{1}}* is your code. For your security, do not share it.' };
  const asRead = [
    { ...advised, add_security_recommendation: true, example: { body_text: [['123456']] } },
    { type: 'FOOTER', text: 'This code expires in 5 minutes.', code_expiration_minutes: 5 },
    code(url),
  ];
  const authentication = () => stored({ category: 'AUTHENTICATION', components: asRead });

  test('an AUTHENTICATION one, which no client may write so: nothing differs', async () => {
    const { id } = await authentication();
    expect(await edit(id, { components: asRead })).toMatchObject({ status: 200, body: { changed: false } });
    expect(world.platform.calls).toEqual([]);
  });

  test('the same with other minutes: the platform gets what a client may write', async () => {
    const { template, id } = await authentication();
    const components = [asRead[0], { ...asRead[1], code_expiration_minutes: 7 }, asRead[2]];
    expect(await edit(id, { components })).toMatchObject({ status: 200, body: { changed: true } });
    const sent = [
      { type: 'BODY', add_security_recommendation: true },
      { type: 'FOOTER', code_expiration_minutes: 7 },
      { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE', text: 'Copy' }] },
    ];
    expect(world.platform.calls).toEqual([['edit', template.id, { components: sent }]]);
  });
});
