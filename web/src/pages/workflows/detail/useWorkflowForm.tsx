import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, ok, type Shape } from '../../../api/client'
import { type Workflow, workflowQuery } from '../../../api/queries/automation/workflow'
import { reportSaveError } from '../../../ui/editConflict/EditConflict'
import { FieldsConflict } from '../../../ui/editConflict/FieldsConflict'
import { useHeldVersion } from '../../../ui/editConflict/heldVersion'
import { showSuccess } from '../../../ui/toast'
import { useText } from '../text'

type Body = Shape<'WorkflowRequest'>

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
      showSuccess(t.saved)
    },
    onError: (fault) =>
      reportSaveError(fault, () => void client.invalidateQueries({ queryKey: ['workflow'] })),
  })
}

/** Some fields of a workflow being edited, and a notice when someone else changes them too. */
export function useWorkflowForm<V extends Body>(
  workflow: Workflow,
  fieldsOf: (workflow: Workflow) => V,
) {
  const heldVersion = useHeldVersion(workflow, fieldsOf)
  const save = useSaveWorkflow()
  return {
    ...heldVersion,
    error: save.error,
    isBusy: save.isPending,
    submit: () =>
      save.mutate(
        { base: heldVersion.base, body: heldVersion.values },
        { onSuccess: (next) => heldVersion.rebase(next, false) },
      ),
    notice: (
      <FieldsConflict object="workflow" heldVersion={heldVersion} fieldsOf={fieldsOf} save={save} />
    ),
  }
}
