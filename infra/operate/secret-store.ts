import {
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
}

export function secretStore(client: SecretsManagerClient): SecretStore {
  return {
    read: async (name) => {
      try {
        return (await client.send(new GetSecretValueCommand({ SecretId: name }))).SecretString;
      } catch (error) {
        if (error instanceof ResourceNotFoundException) return undefined;
        throw error;
      }
    },
    write: async (name, text) => {
      await client.send(new PutSecretValueCommand({ SecretId: name, SecretString: text }));
    },
  };
}
