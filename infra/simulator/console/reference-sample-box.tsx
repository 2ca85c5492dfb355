import { control } from './api.ts';
import type { Operation } from './openapi.ts';
import { CopyButton, Json, useAnswer } from './parts.tsx';
import type { Filled } from './reference-history.ts';
import { sampleOf } from './reference-request.ts';
import { type Language, samples } from './reference-samples.ts';
import type { Service } from './session.ts';
import { createStore, useStore } from './store.ts';

/** The choice stays from route to route. */
const language = createStore<Language>('curl');

export function Samples({ operation, filled }: { readonly operation: Operation; readonly filled: Filled }) {
  const chosen = useStore(language);
  const { value } = useAnswer(() => control<Service>('service'), 'once');
  const text = samples[chosen](sampleOf(operation, filled, value?.url ?? 'http://127.0.0.1:3000'));
  return (
    <>
      <div class="exchange-tools">
        <fieldset class="action-line">
          <legend>The same as a program; TOKEN is what POST /login answers</legend>
          {(Object.keys(samples) as Language[]).map((each) => (
            <button
              key={each}
              type="button"
              class={`button ${each === chosen ? 'main' : ''}`}
              aria-pressed={each === chosen}
              onClick={() => language.set(each)}
            >
              {each}
            </button>
          ))}
        </fieldset>
        <CopyButton text={text} label="Copy sample" />
      </div>
      <Json value={text} label={`Sample, ${chosen}`} />
    </>
  );
}
