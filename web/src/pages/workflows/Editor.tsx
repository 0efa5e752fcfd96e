import {
  ActionIcon,
  Alert,
  Button,
  Group,
  Menu,
  Paper,
  SegmentedControl,
  Text,
  Tooltip,
} from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Cable, Plus, Redo2, Undo2, Wand2 } from 'lucide-react'
import { useState } from 'react'
import { api, ok } from '../../api/client'
import { taskNamesQuery } from '../../api/queries/task'
import { type Workflow, workflowQuery } from '../../api/queries/workflow'
import { workflowNamesQuery } from '../../api/queries/workflowNames'
import { useKeys } from '../../app/keys'
import {
  type Draft,
  type Edge,
  faultOf,
  unreached,
  withChange,
  withEdge,
  withNode,
  withoutEdge,
  withoutNode,
} from '../../ui/graph/draft'
import { FlowTable } from '../../ui/graph/FlowTable'
import { FlowView } from '../../ui/graph/FlowView'
import { draftOf } from '../../ui/graph/RunGraph'
import { useUndo } from '../../ui/graph/undo'
import { useWords } from '../../ui/text'
import { done, failed } from '../../ui/toast'
import { Unsaved } from '../../ui/Unsaved'
import { ConnectDialog } from './ConnectDialog'
import { EdgePanel, StepPanel } from './Panels'
import { TaskPicker } from './TaskPicker'
import { useText } from './text'

interface Props {
  workflow: Workflow
  isTable: boolean
  onTable: (isTable: boolean) => void
  onLeave: () => void
}

/** The graph under the pen, by mouse or by keyboard alone. */
export function Editor({ workflow, isTable, onTable, onLeave }: Props) {
  const t = useText()
  const w = useWords()
  const client = useQueryClient()
  const draft = useUndo<Draft>(draftOf(workflow))
  const [saved, setSaved] = useState(draft.now)
  const [step, setStep] = useState<string | null>(null)
  const [edge, setEdge] = useState<Edge | null>(null)
  const [adding, setAdding] = useState(false)
  const [connecting, setConnecting] = useState(false)
  const { data: tasks = [] } = useQuery(taskNamesQuery)
  const { data: all = [] } = useQuery(workflowNamesQuery)
  // A workflow cannot run itself; longer circles are refused when it is saved.
  const workflows = all.filter((one) => one.id !== workflow.id)
  const isChanged = draft.now !== saved
  const save = useMutation({
    mutationFn: () =>
      ok(
        api.PATCH('/workflows/{id}', {
          params: { path: { id: workflow.id } },
          headers: { 'If-Match': String(workflow.version) },
          body: {
            start: draft.now.start,
            graph: { nodes: draft.now.nodes, edges: draft.now.edges },
          },
        }),
      ),
    onError: failed,
    onSuccess: (next) => {
      setSaved(draft.now)
      client.setQueryData(workflowQuery(workflow.id).queryKey, next)
      done(t.saved)
    },
  })
  const connect = (next: Edge) => {
    const fault = faultOf(draft.now, next)
    if (fault) failed(new Error(t.faults[fault]))
    else draft.set(withEdge(draft.now, next))
    return fault === null
  }
  const lonely = unreached(draft.now)
  const maySave = isChanged && draft.now.nodes.length > 0 && lonely.length === 0
  useKeys({
    'mod+s': () => maySave && save.mutate(),
    'mod+z': draft.undo,
    'mod+Shift+z': draft.redo,
  })
  const names = new Map([
    ...tasks.map((task) => [task.id, { name: task.name, detail: task.hostname }] as const),
    ...workflows.map((one) => [one.id, { name: one.name, detail: '' }] as const),
  ])
  const chosen = draft.now.nodes.find((node) => node.id === step)
  const pick = (node: string | null) => {
    setStep(node)
    setEdge(null)
  }
  return (
    <Paper withBorder className="flow-board">
      <Unsaved when={isChanged} />
      <Group className="head" wrap="wrap">
        <Button variant="default" leftSection={<Plus size={14} />} onClick={() => setAdding(true)}>
          {t.addStep}
        </Button>
        <Button
          variant="default"
          leftSection={<Cable size={14} />}
          disabled={draft.now.nodes.length < 2}
          onClick={() => setConnecting(true)}
        >
          {t.connect}
        </Button>
        <Tool label={t.undo} icon={Undo2} disabled={!draft.canUndo} onClick={draft.undo} />
        <Tool label={t.redo} icon={Redo2} disabled={!draft.canRedo} onClick={draft.redo} />
        <Tool
          label={t.layout}
          icon={Wand2}
          disabled={!draft.now.nodes.some((node) => node.position)}
          onClick={() =>
            draft.set({
              ...draft.now,
              nodes: draft.now.nodes.map(({ position: _, ...node }) => node),
            })
          }
        />
        <SegmentedControl
          size="xs"
          aria-label={t.tabs.graph}
          value={isTable ? 'table' : 'graph'}
          onChange={(value) => onTable(value === 'table')}
          data={[
            { value: 'graph', label: t.graph },
            { value: 'table', label: t.table },
          ]}
        />
        <Group ml="auto" gap={8}>
          {isChanged ? <Text size="xs">{t.unsaved}</Text> : null}
          <Button variant="default" onClick={onLeave}>
            {t.stopEditing}
          </Button>
          <Button disabled={!maySave} loading={save.isPending} onClick={() => save.mutate()}>
            {w.save}
          </Button>
        </Group>
      </Group>
      {lonely.length ? (
        <Alert color="orange" p="xs">
          {t.unreached(lonely.join(', '))}
        </Alert>
      ) : null}
      <div className="flow-frame" data-panel="true">
        {isTable ? (
          <FlowTable
            draft={draft.now}
            tasks={names}
            actions={(node) => (
              <RowMenu
                onEdit={() => pick(node)}
                onRemove={() => draft.set(withoutNode(draft.now, node))}
              />
            )}
          />
        ) : (
          <FlowView
            draft={draft.now}
            tasks={names}
            selected={step}
            onSelect={pick}
            onEdge={(next) => {
              setStep(null)
              setEdge(next)
            }}
            onConnect={(source, target) => connect({ source, target, on: 'success' })}
            onMove={(node, position) => draft.set(withChange(draft.now, node, { position }))}
            onDelete={(nodes, edges) =>
              draft.set(nodes.reduce(withoutNode, edges.reduce(withoutEdge, draft.now)))
            }
          />
        )}
        <aside className="flow-panel">
          {chosen ? (
            <StepPanel
              key={chosen.id}
              node={chosen}
              draft={draft.now}
              onChange={draft.set}
              onRemove={() => pick(null)}
            />
          ) : null}
          {edge ? (
            <EdgePanel
              edge={edge}
              draft={draft.now}
              onChange={(next, now) => {
                draft.set(next)
                setEdge(now)
              }}
            />
          ) : null}
          {!chosen && !edge ? (
            <Text size="sm" c="dimmed">
              {draft.now.nodes.length ? t.choose : t.empty}
            </Text>
          ) : null}
        </aside>
      </div>
      <TaskPicker
        opened={adding}
        tasks={tasks}
        workflows={workflows}
        onClose={() => setAdding(false)}
        onPick={(runs) => draft.set(withNode(draft.now, runs))}
      />
      <ConnectDialog
        opened={connecting}
        draft={draft.now}
        onClose={() => setConnecting(false)}
        onConnect={connect}
      />
    </Paper>
  )
}

function Tool({
  label,
  icon: Icon,
  disabled,
  onClick,
}: {
  label: string
  icon: typeof Undo2
  disabled: boolean
  onClick: () => void
}) {
  return (
    <Tooltip label={label}>
      <ActionIcon aria-label={label} disabled={disabled} onClick={onClick}>
        <Icon size={16} />
      </ActionIcon>
    </Tooltip>
  )
}

function RowMenu({ onEdit, onRemove }: { onEdit: () => void; onRemove: () => void }) {
  const t = useText()
  const w = useWords()
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button size="compact-xs" variant="default">
          {w.actions}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={onEdit}>{w.edit}</Menu.Item>
        <Menu.Item color="red" onClick={onRemove}>
          {t.removeStep}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
