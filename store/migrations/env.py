"""Alembic's entry: run the migrations on the connection that `store.operating.migrate` opened."""

from alembic import context

from store.operating.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    compare_type=True,
    transaction_per_migration=True,
)
with context.begin_transaction():
    context.run_migrations()
