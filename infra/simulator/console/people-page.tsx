import { OptOutsView } from './opt-outs-view.tsx';
import { PhonesView } from './people-phones.tsx';
import { ToldView } from './people-told.tsx';
import { place } from './router.ts';
import { useStore } from './store.ts';

/** The people whom a client writes to: who wants no marketing, what they answered, and what the client was told of it. */
export function PeoplePage() {
  const { show = '' } = useStore(place).filter;
  if (show === 'phones') return <PhonesView />;
  return show === 'told' ? <ToldView /> : <OptOutsView />;
}
