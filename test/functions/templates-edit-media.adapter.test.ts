import { describe, expect, test } from 'vitest';
import { changedBody, templateEdits } from '../support/template-edits.ts';

const { world, stored, stateOf, edit } = templateEdits();

describe('new media (D20)', () => {
  const text = { type: 'BODY', text: 'The same.' };
  const url = 'https://scontent.example.com/old.png';
  const image = (more: object) => ({ type: 'HEADER', format: 'IMAGE', ...more });
  const written = (handle: string) => image({ example: { header_handle: [handle] } });
  const withImage = () => stored({ components: [written(`${url}?sig=1`), text] });

  test.each([
    [
      'header_source',
      'https://a.example.com/new.png',
      '4::new.png',
      ['fetch https://a.example.com/new.png', 'upload image/png new.png with demo'],
    ],
    ['header_handle', '4::mine', '4::mine', []],
  ])('by %s', async (key, given, handle, expected) => {
    const { template, key: templateKey, id } = await withImage();
    expect(await edit(id, { components: [image({ [key]: given }), text] })).toMatchObject({ body: { changed: true } });
    const components = [written(handle), text];
    expect({ media: world.media, calls: world.platform.calls }).toEqual({
      media: expected,
      calls: [['edit', template.id, { components }]],
    });
    expect((await stateOf(templateKey)).fact?.template).toMatchObject({ components, status: 'PENDING' });
  });

  test.each([
    ['example.header_handle', { example: { header_handle: [`${url}?sig=2`] } }],
    ['header_handle', { header_handle: `${url}?sig=2` }],
  ])('the stored media in %s beside another text: uploaded again, for a URL is no handle', async (_, more) => {
    const { template, id } = await withImage();
    const other = { type: 'BODY', text: 'Not the same.' };
    expect(await edit(id, { components: [image(more), other] })).toMatchObject({ body: { changed: true } });
    expect(world.media).toEqual([`fetch ${url}?sig=2`, 'upload image/png old.png with demo']);
    expect(world.platform.calls).toEqual([['edit', template.id, { components: [written('4::old.png'), other] }]]);
  });

  test.each([
    ['the stored URL', { header_source: url }],
    ['what the listing shows', { example: { header_handle: [`${url}?sig=2`] } }],
  ])('%s is none: nothing is fetched or sent', async (_, more) => {
    const { id } = await withImage();
    expect(await edit(id, { components: [image(more), text] })).toMatchObject({ body: { changed: false } });
    expect([...world.media, ...world.platform.calls]).toEqual([]);
  });

  test('the stored URL beside another change: the platform takes components whole, so it gets the media again', async () => {
    const { id } = await withImage();
    await edit(id, { components: [image({ header_source: url }), changedBody] });
    expect(world.platform.calls).toMatchObject([
      ['edit', expect.anything(), { components: [written('4::old.png'), changedBody] }],
    ]);
  });

  test.each([
    ['no image where the platform shows it', written('https://a.example.com/x.txt'), 'IMAGE media must be'],
    ['a private address where the platform shows it', written('https://10.0.0.1/x.png'), 'must name a public host'],
  ])('%s: 400 by the key that was given, nothing uploaded or sent', async (_, header, message) => {
    const { id } = await withImage();
    const answer = await edit(id, { components: [header, changedBody] });
    expect(answer).toMatchObject({ status: 400, body: { message: expect.stringContaining(message) } });
    expect(JSON.stringify(answer.body)).not.toContain('header_source');
    expect([...world.media.filter((step) => step.startsWith('upload')), ...world.platform.calls]).toEqual([]);
  });
});
