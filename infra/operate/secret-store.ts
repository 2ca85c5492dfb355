import {
  CreateSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  ResourceNotFoundException,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';

/** Secrets as operators handle them. The deployment creates each secret; its value is written here. */
export interface SecretStore {
  /** The current text; undefined when nothing has been written yet. */
  read(name: string): Promise<string | undefined>;
  write(name: string, text: string): Promise<void>;
  /** The same, for a secret that no deployment has created: the first time, it is. */
  writeOwn(name: string, text: string): Promise<void>;
}

export function secretStore(client: SecretsManagerClient): SecretStore {
  const write: SecretStore['write'] = async (name, text) => {
    await client.send(new PutSecretValueCommand({ SecretId: name, SecretString: text }));
  };
  return {
    read: async (name) => {
      try {
        const { SecretString: text } = await client.send(new GetSecretValueCommand({ SecretId: name }));
        // AWS keeps no empty text and refuses to read a secret without a value; an emulator tells such a one as empty.
        return text === '' ? undefined : text;
      } catch (error) {
        if (error instanceof ResourceNotFoundException) return undefined;
        throw error;
      }
    },
    write,
    writeOwn: async (name, text) => {
      try {
        await write(name, text);
      } catch (error) {
        if (!(error instanceof ResourceNotFoundException)) throw error;
        await client.send(new CreateSecretCommand({ Name: name, SecretString: text }));
      }
    },
  };
}
