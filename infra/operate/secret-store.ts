import {
  CreateSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  ResourceNotFoundException,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';

/** The deployment creates each secret; operators write its value here. */
export interface SecretStore {
  /** Returns undefined when nothing has been written yet. */
  read(name: string): Promise<string | undefined>;
  write(name: string, text: string): Promise<void>;
  /** Creates the secret if needed, for one that no deployment creates. */
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
        // AWS stores no empty text and refuses to read a secret without a value; an emulator returns an empty text for
        // it.
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
