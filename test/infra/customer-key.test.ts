import { RootConstruct } from 'constructs';
import { describe, expect, it } from 'vitest';
import { checkEncryptionKey, settingsFrom } from '../../infra/settings.ts';
import { encryptionKeyArn } from '../support/setting-choices.ts';
import { stacksOf } from '../support/stack-templates.ts';

/* The context value encryptionKeyArn; templates/chosen-beyond-whole.txt says who may use the key, and for what. */

describe("the operator's key", () => {
  it('encrypts every table, queue, secret that provisioning fills, and log', () => {
    const { stateful } = stacksOf('chosen');
    const encrypted = stateful.filter(
      ({ type, properties }) =>
        /::(?:Table|Queue|Secret|LogGroup)$/.test(type) && !String(properties.Name).includes('edge-key'),
    );
    const plain = encrypted.filter(({ properties }) => !JSON.stringify(properties).includes(encryptionKeyArn));
    expect(plain.map(({ id }) => id)).toEqual([]);
    expect(encrypted.length).toBeGreaterThan(50);
  });

  it('is of nothing where it is not named', () => {
    expect(JSON.stringify([stacksOf('plain').stateful, stacksOf('plain').stateless])).not.toMatch(
      /kms:|KmsKeyId|KmsMaster/,
    );
  });

  it('of another region is refused', () => {
    const named = { ...settingsFrom(new RootConstruct().node), encryptionKeyArn };
    expect(() => checkEncryptionKey(named, 'us-east-1')).toThrow(
      'names a key in eu-west-1, and the stacks go to us-east-1',
    );
    for (const region of ['eu-west-1', undefined]) expect(() => checkEncryptionKey(named, region)).not.toThrow();
  });
});
