package io.tabletrelay.api.client;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * A user's database, in which an event's epoch and id are stored in the transaction that applies it. The example of docs/clients.
 *
 * <p>Threading: thread-safe; each call has a connection of its own.
 */
final class Ledger {
    private static final String DUPLICATE_KEY = "23505";

    private final String url;

    Ledger(Path folder) throws SQLException {
        url = "jdbc:h2:" + folder.resolve("ledger").toAbsolutePath();
        try (Connection db = DriverManager.getConnection(url);
                Statement statement = db.createStatement()) {
            statement.execute("create table if not exists applied (epoch bigint, id bigint, primary key (epoch, id))");
            statement.execute("create table if not exists account (balance bigint)");
            statement.execute("insert into account select 0 where not exists (select * from account)");
        }
    }

    /** Returns false if the event was applied before. */
    boolean apply(RelayEvent event) throws SQLException {
        try (Connection db = DriverManager.getConnection(url)) {
            db.setAutoCommit(false);
            if (!isNew(db, event.epoch(), event.id())) {
                return false;
            }
            try (PreparedStatement credit = db.prepareStatement("update account set balance = balance + ?")) {
                credit.setInt(1, event.payload().remaining());
                credit.executeUpdate();
            }
            db.commit();
            return true;
        }
    }

    private static boolean isNew(Connection db, long epoch, long id) throws SQLException {
        try (PreparedStatement insert = db.prepareStatement("insert into applied values (?, ?)")) {
            insert.setLong(1, epoch);
            insert.setLong(2, id);
            insert.executeUpdate();
            return true;
        } catch (SQLException e) {
            if (e.getSQLState().equals(DUPLICATE_KEY)) {
                return false;
            }
            throw e;
        }
    }

    long balance() throws SQLException {
        try (Connection db = DriverManager.getConnection(url);
                Statement statement = db.createStatement();
                ResultSet row = statement.executeQuery("select balance from account")) {
            row.next();
            return row.getLong(1);
        }
    }
}
