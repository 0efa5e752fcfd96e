import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, ok, type Shape } from '../../../api/client'
import { type Workflow, workflowQuery } from '../../../api/queries/automation/workflow'
import { tellFailed } from '../../../ui/editConflict/EditConflict'
import { FieldsMeanwhile } from '../../../ui/editConflict/FieldsConflict'
import { useHeld } from '../../../ui/editConflict/heldVersion'
import { done } from '../../../ui/toast'
import { useText } from '../text'

type Body = Shape<'WorkflowBody'>

/** How a change of a workflow is saved: only over the version that it was made on. */
export function useSaveWorkflow() {
  const t = useText()
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ base, body }: { base: Workflow; body: Body }) =>
      ok<Workflow>(
        api.PATCH('/workflows/{id}', {
          params: { path: { id: base.id } },
          headers: { 'If-Match': String(base.version) },
          body,
        }),
      ),
    onSuccess: (next) => {
      client.setQueryData(workflowQuery(next.id).queryKey, next)
      done(t.saved)
    },
    onError: (fault) =>
      tellFailed(fault, () => void client.invalidateQueries({ queryKey: ['workflow'] })),
  })
}

/** Some fields of a workflow being edited, and a notice when somebody else changes them too. */
export function useWorkflowForm<V extends Body>(
  workflow: Workflow,
  fieldsOf: (workflow: Workflow) => V,
) {
  const held = useHeld(workflow, fieldsOf)
  const save = useSaveWorkflow()
  return {
    ...held,
    error: save.error,
    isBusy: save.isPending,
    submit: () =>
      save.mutate(
        { base: held.base, body: held.values },
        { onSuccess: (next) => held.rebase(next, false) },
      ),
    notice: <FieldsMeanwhile object="workflow" held={held} fieldsOf={fieldsOf} save={save} />,
  }
}
