import { expect, test } from 'vitest';
import type { SettingChoice } from '../support/setting-choices.ts';
import { stacksOf } from '../support/stack-templates.ts';
import { differenceText, templateText } from '../support/template-text.ts';

/*
 * What is deployed is read by a reviewer: `npm test -- infra/templates -u` writes the files again, and what changed in
 * them belongs to the commit. Rules over all resources stand in the files beside this one.
 */

test('the templates without settings are those that were reviewed', async () => {
  await expect(templateText(stacksOf('plain'))).toMatchFileSnapshot('templates/plain.txt');
});

test.each<[SettingChoice, SettingChoice]>([
  ['address', 'plain'],
  ['whole', 'address'],
  ['edge', 'address'],
  ['chosen', 'whole'],
])('the settings %s change what was reviewed of %s', async (choice, base) => {
  const text = differenceText(stacksOf(base), stacksOf(choice));
  await expect(text).toMatchFileSnapshot(`templates/${choice}-beyond-${base}.txt`);
});
