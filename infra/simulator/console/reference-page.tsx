import { Empty } from './parts.tsx';

/** The seat of the interface's own description. */
export function ReferencePage() {
  return (
    <div class="page">
      <Empty title="The interface">
        <p>Every route of the service is described in functions/README.md.</p>
      </Empty>
    </div>
  );
}
